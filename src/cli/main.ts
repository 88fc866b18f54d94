#!/usr/bin/env node
import packageFile from '../../package.json' with { type: 'json' }
import { parseOptions, UsageError } from '../../packages/fastify-contract/src/cli/cli-options.ts'
import { nodeProblem } from '../../packages/fastify-contract/src/cli/node-version.ts'

const help = `plant-store serve      runs the service; serve --help lists its main settings
plant-store token      creates, lists, rotates and revokes access tokens; see token --help
plant-store backup     copies the SQLite file of STORE_URL; see backup --help
plant-store restore    replaces that file with a backup
plant-store check      checks that file, or a backup, for damage
plant-store migrate    creates the Cassandra keyspace and table of STORE_URL; see migrate --help
plant-store plants     lists, counts, exports and imports the plants of STORE_URL; see plants --help
plant-store --version
`

const serveHelp = `plant-store serve

Runs the service until SIGTERM or SIGINT. Environment variables configure it; these are the most important ones:

HOST, PORT             the address and port of the service; default: 127.0.0.1 and 3000
STORE_URL              the store; default: sqlite:data/plants.db; for PostgreSQL: postgres://USER@HOST/DATABASE
TOKENS_FILE            the file of plant-store token; a change takes effect within one second
ACCESS_TOKENS          access tokens, separated by commas
JWT_ISSUER             the issuer of JWT access tokens; requires JWT_AUDIENCE
MANAGEMENT_PORT        the port for health, metrics and docs; default: 3001
LOG_LEVEL              the log level; default: info

docs/configuration.md lists all variables.
`

try {
  const problem = nodeProblem(process.versions.node, packageFile.engines.node)
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
      // The module reads the environment and starts the service when it is loaded.
      else await import('../server.ts')
      return
    case 'token': {
      // The module loads SQLite, which serve may not need.
      const { token } = await import('../../packages/fastify-contract/src/cli/token.ts')
      const { result, message = '' } = await token(args, process.env)
      process.stdout.write(result)
      process.stderr.write(message)
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
      const { migrate } = await import('./migrate.ts')
      process.stdout.write(await migrate(args, process.env))
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
        'unknown command, allowed: serve, token, backup, restore, check, migrate, plants, --help, --version',
      )
  }
}

/** Returns a signal that aborts at the first SIGINT or SIGTERM. A second one ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}
