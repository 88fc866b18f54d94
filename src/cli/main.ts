#!/usr/bin/env node
import { parseOptions, UsageError } from 'fastify-contract/token-command'
import packageFile from '../../package.json' with { type: 'json' }
import { lockTokenFile } from './lock-token-file.ts'
import { nodeProblem } from './node-version.ts'

const help = `Usage: plant-store COMMAND [OPTIONS]

Runs the plant store, a service that keeps plants, and the commands for its access tokens and its data.

serve      runs the service
token      creates, lists, rotates and revokes access tokens
backup     copies the SQLite file of STORE_URL
restore    replaces that file with a backup
check      checks that file, or a backup, for corruption
migrate    creates the Cassandra keyspace and table of STORE_URL
plants     exports and imports the plants of STORE_URL

plant-store COMMAND --help describes a command. plant-store --version prints the version.
`

const serveHelp = `plant-store serve

Runs the service until SIGTERM or SIGINT. Environment variables configure it; these are the most important ones:

HOST, PORT             the address and port of the service; default: 127.0.0.1 and 3000
STORE_URL              the store; default: sqlite:data/plants.db; for PostgreSQL: postgres://USER@HOST/DATABASE
TOKENS_FILE            the token file (see plant-store token); reloaded when it changes
ACCESS_TOKENS          access tokens, separated by commas
JWT_ISSUER             the issuer of JWT access tokens; requires JWT_AUDIENCE
MANAGEMENT_PORT        the port of the admin server: probes, metrics and documentation; default: 3001
LOG_LEVEL              the log level; default: info

See docs/configuration.md for all variables.
`

const commands = 'serve, token, backup, restore, check, migrate, plants, --help or --version'

/** Descriptions of errors of the file system, after the path of the file. */
const fileErrors = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not in a directory',
  EACCES: 'is not accessible to this user; check its owner and mode',
}

try {
  const problem = nodeProblem(process.versions.node, packageFile.engines.node)
  if (problem !== undefined) throw new Error(problem)
  await run(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`plant-store: ${plainMessage(error as NodeJS.ErrnoException)}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function run([command, ...args]: string[]): Promise<void> {
  switch (command) {
    case 'serve':
      if (parseOptions(args, []).help) print(serveHelp)
      // The module reads the environment and starts the service when it is loaded.
      else await import('../server.ts')
      return
    case 'token': {
      const { token } = await import('fastify-contract/token-command')
      const { application } = await import('../config.ts')
      const { result, message = '' } = await token(args, process.env, {
        command: 'plant-store token',
        tokenPrefix: application.tokenPrefix,
        lockFile: lockTokenFile,
      })
      print(result)
      process.stderr.write(message)
      return
    }
    case 'backup':
    case 'restore':
    case 'check': {
      const { sqliteCommand } = await import('./sqlite-commands.ts')
      const { result, code } = sqliteCommand(command, args, process.env)
      print(result)
      process.exitCode = code
      return
    }
    case 'plants': {
      const { plants } = await import('./plants.ts')
      const { stdin, stdout, stderr } = process
      process.exitCode = await plants(args, process.env, { stdin, stdout, stderr, interrupt: interruption() })
      return
    }
    case 'migrate': {
      const { migrate } = await import('./migrate.ts')
      print(await migrate(args, process.env))
      return
    }
    case '--help':
    case '-h':
      print(help)
      return
    case '--version':
      print(`${packageFile.version}\n`)
      return
    case undefined:
      process.stderr.write(help)
      process.exitCode = 2
      return
    default:
      throw new UsageError(`unknown command '${command}'; expected ${commands}`)
  }
}

/** Writes a text to standard output. A reader that has closed its pipe, such as `head`, is no error. */
function print(text: string): void {
  process.stdout.on('error', () => {})
  process.stdout.write(text)
}

/** Returns the message of an error. Describes an error of the file system by its file, without code and system call. */
function plainMessage({ code, path, message }: NodeJS.ErrnoException): string {
  const reason = fileErrors[code as keyof typeof fileErrors]
  return path === undefined || reason === undefined ? message : `${path} ${reason}`
}

/** Returns a signal that aborts at the first SIGINT or SIGTERM. A second one ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}
