import { parseOptions, UsageError } from '../../packages/fastify-contract/src/cli/cli-options.ts'
import { backup } from './backup.ts'
import { examine, readPlants, sqlitePath } from './plant-file.ts'
import { restore } from './restore.ts'

export const sqliteHelp = `plant-store backup TARGET
plant-store restore SOURCE
plant-store check [FILE]

backup    copies the SQLite file of STORE_URL into a new file; the service may run meanwhile
restore   replaces that file with a copy of a backup; stop the service first; the old file is kept as FILE-replaced
check     checks a file, that of STORE_URL or a backup, for damage; the service may run meanwhile
`

const operands = { backup: 'TARGET', restore: 'SOURCE', check: 'FILE' }

/**
 * Runs `plant-store backup`, `restore` or `check` with its arguments. Returns the text to print and the exit code.
 * Throws a UsageError, or one line that names a file and the problem.
 */
export function sqliteCommand(
  command: keyof typeof operands,
  args: string[],
  environment: NodeJS.ProcessEnv,
): { result: string; code: number } {
  const { help, operand } = parseOptions(args, [], operands[command])
  if (help) return { result: sqliteHelp, code: 0 }
  if (command === 'check') return check(operand ?? sqlitePath(environment))
  if (operand === undefined) {
    const allowed = command === 'backup' ? 'the path of a new file' : 'the path of a backup'
    throw new UsageError(`${operands[command]} is missing, allowed: ${allowed}`)
  }
  return { result: (command === 'backup' ? backup : restore)(operand, environment), code: 0 }
}

/** Checks a file, and returns a line for each problem that SQLite finds. */
function check(path: string): { result: string; code: number } {
  const { problems, plants } = readPlants(path, examine)
  if (problems.length === 0) return { result: `${path}: ok, ${plants} plants\n`, code: 0 }
  return { result: problems.map((problem) => `${path}: ${problem}\n`).join(''), code: 1 }
}
