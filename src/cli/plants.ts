import { parseOptions, UsageError } from '../../packages/fastify-contract/src/cli/cli-options.ts'
import { storeConfig } from '../config.ts'
import { exportPlants } from './plants-export.ts'
import { importPlants } from './plants-import.ts'
import { countPlants, listPlants, printPlant } from './plants-read.ts'
import type { PlantsCall, Terminal } from './terminal.ts'

export const plantsHelp = `plant-store plants list [--from ID] [--limit 100]
plant-store plants get ID
plant-store plants count
plant-store plants export [FILE]
plant-store plants import [FILE]

These commands read or write the plants of STORE_URL, a SQLite file or PostgreSQL. The service may run meanwhile.
A plant is a line of JSON, like a body of POST /plants: {"id":1,"name":"Monstera deliciosa","tag":"indoor"}

list      prints plants in the order of their ids, from an id on
get       prints the plant of an id
count     prints the number of plants
export    writes all plants to a new file that then replaces FILE, or to standard output
import    creates the plant of each line of FILE, or of standard input, and leaves existing plants unchanged, so that an
          import can be repeated. It prints how many plants are new, identical or in conflict, and which lines are wrong

On SIGINT or SIGTERM an import ends after the plants that are being created, and an export leaves FILE unchanged.

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 no plant has the id, or lines are wrong or in conflict; 130 interrupted
`

type Command = { options: string[]; operand?: string; run(call: PlantsCall): Promise<number> }

const commands: Record<string, Command> = {
  list: { options: ['from', 'limit'], run: listPlants },
  get: { options: [], operand: 'ID', run: printPlant },
  count: { options: [], run: countPlants },
  export: { options: [], operand: 'FILE', run: exportPlants },
  import: { options: [], operand: 'FILE', run: importPlants },
}

/**
 * Runs `plant-store plants` with its arguments. Resolves with the exit code. Rejects with a UsageError, or with one
 * line that says what failed.
 */
export async function plants(
  [name = '', ...args]: string[],
  { STORE_URL, BODY_LIMIT }: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const isHelp = name === '--help' || name === '-h'
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined && !isHelp) {
    throw new UsageError(`plants: unknown command, allowed: ${Object.keys(commands).join(', ')}`)
  }
  const options = command && parseOptions(withNegativeIds(args), command.options, command.operand)
  if (command === undefined || options === undefined || options.help) {
    terminal.stdout.write(plantsHelp)
    return 0
  }
  const config = storeConfig({ STORE_URL, BODY_LIMIT })
  // Each write reports its own failure, so this event needs no other handler.
  terminal.stdout.on('error', () => {})
  try {
    return await command.run({ ...options, ...config, terminal })
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException
    // The reader of the output has closed the pipe.
    if (code === 'EPIPE') return 1
    if (name !== 'AbortError') throw error
    terminal.stderr.write('plant-store: interrupted\n')
    return 130
  }
}

/** Rewrites the arguments so that parseArgs does not treat a negative id, after `--from` or alone, as an option. */
function withNegativeIds(args: string[]): string[] {
  const joined = args.join('\0').replace(/(^|\0)--from\0-(?=\d)/g, '$1--from=-')
  return joined === '' ? args : joined.split('\0').flatMap((arg) => (/^-\d/.test(arg) ? ['--', arg] : [arg]))
}
