#!/usr/bin/env node
import packageFile from '../../package.json' with { type: 'json' }
import { parseOptions, UsageError } from './cli-options.ts'
import { nodeProblem } from './node-version.ts'

const help = `plant-store serve      serves plants; serve --help names its configuration
plant-store token      makes, lists, rotates and revokes access tokens; token --help says how
plant-store backup     copies the SQLite file of STORE_URL; backup --help says how
plant-store restore    puts a backup in its place
plant-store check      tells whether it, or a backup, is sound
plant-store plants     lists, counts, exports and imports the plants of STORE_URL; plants --help says how
plant-store migrate    brings the tables of STORE_URL to the version of this release; migrate --help says how
plant-store --version
`

const serveHelp = `plant-store serve

Serves plants until SIGTERM or SIGINT. It is configured by variables of the environment, of which these matter most:

HOST, PORT             where it listens: 127.0.0.1, 3000
STORE_URL              where plants are kept: sqlite:data/plants.db, or postgres://USER@HOST/DATABASE
TOKENS_FILE            the file of plant-store token, which is followed: a change counts within a second
ACCESS_TOKENS          or tokens themselves, comma separated
JWT_ISSUER             or the issuer of tokens that are JWTs, with JWT_AUDIENCE
MANAGEMENT_PORT        where health, metrics and docs are: 3001
LOG_LEVEL              how much is logged: info

docs/configuration.md has them all.
`

try {
  const problem = nodeProblem(process.versions.node)
  if (problem !== undefined) throw new Error(problem)
  await run(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`plant-store: ${(error as Error).message}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function run([command = '', ...args]: string[]): Promise<void> {
  switch (command) {
    case 'serve':
      if (parseOptions(args, []).help) process.stdout.write(serveHelp)
      // It reads the environment and starts when it is loaded.
      else await import('../server.ts')
      return
    case 'token': {
      // It loads SQLite, which serving may do without.
      const { token } = await import('./token.ts')
      const { result, words = '' } = await token(args, process.env)
      process.stdout.write(result)
      process.stderr.write(words)
      return
    }
    case 'backup':
    case 'restore':
    case 'check': {
      const { sqliteCommand } = await import('./sqlite-commands.ts')
      const { result, code } = sqliteCommand(command, args, process.env)
      process.stdout.write(result)
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
      const { migrateCommand } = await import('./migrate.ts')
      process.stdout.write(await migrateCommand(args, process.env, process.stderr))
      return
    }
    case '--help':
    case '-h':
      process.stdout.write(help)
      return
    case '--version':
      process.stdout.write(`${packageFile.version}\n`)
      return
    default:
      throw new UsageError(
        'there is no such command, allowed: serve, token, backup, restore, check, plants, migrate, --help, --version',
      )
  }
}

/** Returns a signal that aborts at the first SIGINT or SIGTERM; the second one ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}
