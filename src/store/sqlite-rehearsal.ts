import { isExpansion } from './schema-step.ts'
import { committer } from './sqlite-commit.ts'
import type { PlantDatabase } from './sqlite-database.ts'
import { openSqliteFile } from './sqlite-driver.ts'
import { queryRunner } from './sqlite-queries.ts'
import { makeTables, takeSqliteSteps } from './sqlite-schema.ts'
import { sqliteSteps } from './sqlite-steps.ts'

/** Opens a database in memory with the tables of a file, where commits and queries can run without a trace. */
export function openRehearsal(): Pick<PlantDatabase, 'commit' | 'query'> {
  const database = openSqliteFile(':memory:', {})
  makeTables(database)
  takeSqliteSteps(database, sqliteSteps.filter(isExpansion))
  return { commit: committer(database), query: queryRunner(database) }
}
