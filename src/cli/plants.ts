import { parseOptions, UsageError } from 'fastify-contract/command-line'
import { storeConfig } from '../config.ts'
import { exportPlants } from './plants-export.ts'
import { importPlants } from './plants-import.ts'
import type { Terminal } from './terminal.ts'

export const plantsHelp = `plant-store plants export [FILE]
plant-store plants import [FILE]

These commands read or write the plants of STORE_URL, a SQLite file or PostgreSQL. The service may run meanwhile.
A plant is a line of JSON, like a body of POST /plants: {"id":1,"name":"Monstera deliciosa","tag":"indoor"}

export    writes all plants to a new file that then replaces FILE, or to standard output
import    creates the plant of each line of FILE, or of standard input, and leaves existing plants unchanged, so that an
          import can be repeated. It prints how many plants are new, identical or in conflict, and which lines are
          invalid

On SIGINT or SIGTERM an import ends after the plants that are being created, and an export leaves FILE unchanged.

Exit codes: 0 done; 1 failed; 2 usage error; 3 some lines are invalid or in conflict; 130 interrupted
`

const commands = { export: exportPlants, import: importPlants }

/**
 * Runs `plant-store plants` with its arguments. Resolves with the exit code. Rejects with a UsageError, or with one
 * line that says what failed.
 */
export async function plants(
  [name, ...args]: string[],
  { STORE_URL, BODY_LIMIT }: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  if (name === undefined) {
    terminal.stderr.write(plantsHelp)
    return 2
  }
  const isHelp = name === '--help' || name === '-h'
  if (!isHelp && !Object.hasOwn(commands, name)) {
    throw new UsageError(`plants: unknown command; expected ${Object.keys(commands).join(' or ')}`)
  }
  const { help, operand } = isHelp ? { help: true, operand: undefined } : parseOptions(args, [], 'FILE')
  if (help) {
    terminal.stdout.write(plantsHelp)
    return 0
  }
  const config = storeConfig({ STORE_URL, BODY_LIMIT })
  // Each write reports its own failure, so this event needs no other handler.
  terminal.stdout.on('error', () => {})
  try {
    return await commands[name as keyof typeof commands](operand, config, terminal)
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException
    // The reader of the output has closed the pipe.
    if (code === 'EPIPE') return 1
    if (name !== 'AbortError') throw error
    terminal.stderr.write('plant-store: interrupted\n')
    return 130
  }
}
