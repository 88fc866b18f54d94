import { isExpansion } from './schema-step.ts'
import { createCommit } from './sqlite-commit.ts'
import type { PlantDatabase } from './sqlite-database.ts'
import { openSqliteFile } from './sqlite-driver.ts'
import { queryRunner } from './sqlite-queries.ts'
import { makeTables, runSqliteSteps } from './sqlite-schema.ts'
import { sqliteSteps } from './sqlite-steps.ts'

/** Opens a database in memory with the tables of a file, where commits and queries can run without a trace. */
export function openRehearsal(): Pick<PlantDatabase, 'commit' | 'query'> {
  const database = openSqliteFile(':memory:', {})
  makeTables(database)
  runSqliteSteps(database, sqliteSteps.filter(isExpansion))
  return { commit: createCommit(database), query: queryRunner(database) }
}
