import { readConfig } from '../config/read-config.ts'
import { type Migration, migrate } from '../store/schema-migration.ts'
import { parseOptions, UsageError } from './cli-options.ts'
import { withTables } from './plants-store.ts'
import { progressBar, type Screen } from './progress-bar.ts'

export const migrateHelp = `plant-store migrate expand
plant-store migrate contract

Both commands update the tables of STORE_URL, a SQLite file or PostgreSQL, to the version of this release. Services of
this release and of the previous one may run meanwhile. After an interruption, run the command again.

expand    adds what this release needs, as its service does at startup, and fills in the rows that older services wrote
contract  does the same, then removes what only older services need: stop them first, they cannot start again
`

/**
 * Runs `plant-store migrate` with its arguments. Resolves with the text to print. Rejects with a UsageError, or with
 * one line that says what failed.
 */
export async function migrateCommand(
  args: string[],
  { STORE_URL }: NodeJS.ProcessEnv,
  screen: Screen,
): Promise<string> {
  const { help, operand } = parseOptions(args, [], 'expand or contract')
  if (help) return migrateHelp
  if (operand !== 'expand' && operand !== 'contract')
    throw new UsageError('migrate: unknown command, allowed: expand, contract')
  const { storeUrl } = readConfig({ STORE_URL })
  const bar = progressBar(screen)
  const migration = withTables(storeUrl, (tables) => migrate(tables, operand === 'contract', bar.update))
  return migrationSummary(await migration.finally(bar.end))
}

/** Returns one line with the schema version, the number of rows filled in and the steps left. */
export function migrationSummary({ version, filled, left }: Migration): string {
  const versions = left.map((step) => step.version).join(', ')
  const rest = left.length === 0 ? '' : `; left to contract: version ${versions}`
  return `schema version ${version}; ${filled} plants filled in${rest}\n`
}
