import { readConfig } from '../config/read-config.ts'
import { type Migration, migrate } from '../store/schema-migration.ts'
import { parseOptions, UsageError } from './cli-options.ts'
import { withTables } from './plants-store.ts'
import { progressBar, type Screen } from './progress-bar.ts'

export const migrateHelp = `plant-store migrate expand
plant-store migrate contract

Each brings the tables of STORE_URL, a SQLite file or PostgreSQL, to the version of this release, while services of this
release and of the one before run or not. An interrupted one is run again.

expand    adds what this release needs, as its service does at the start, and fills in what older services leave out
contract  does the same, then removes what older services alone need: none of them may run, and none can start again
`

/**
 * Runs `plant-store migrate` with the words after it; returns what to print. Throws a UsageError, or rejects with one
 * line that says what failed.
 */
export async function migrateCommand(
  args: string[],
  { STORE_URL }: NodeJS.ProcessEnv,
  screen: Screen,
): Promise<string> {
  const { help, operand } = parseOptions(args, [], 'expand or contract')
  if (help) return migrateHelp
  if (operand !== 'expand' && operand !== 'contract') throw new UsageError('migrate what? allowed: expand, contract')
  const { storeUrl } = readConfig({ STORE_URL })
  const bar = progressBar(screen)
  const migration = withTables(storeUrl, (tables) => migrate(tables, operand === 'contract', bar.update))
  return migrationSummary(await migration.finally(bar.end))
}

/** Says what was done, and what is left, in a line. */
export function migrationSummary({ version, filled, left }: Migration): string {
  const versions = left.map((step) => step.version).join(', ')
  const rest = left.length === 0 ? '' : `; left to contract: version ${versions}`
  return `schema version ${version}; ${filled} plants filled in${rest}\n`
}
