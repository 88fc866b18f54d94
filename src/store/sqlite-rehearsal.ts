import { createCommit } from './sqlite-commit.ts'
import type { PlantDatabase } from './sqlite-database.ts'
import { openSqliteFile } from './sqlite-driver.ts'
import { queryRunner } from './sqlite-queries.ts'
import { makeTables } from './sqlite-schema.ts'

/** Opens a database in memory with the tables of a file, where commits and queries can run without a trace. */
export function openRehearsal(): Pick<PlantDatabase, 'commit' | 'query'> {
  const database = openSqliteFile(':memory:', {})
  makeTables(database)
  return { commit: createCommit(database), query: queryRunner(database) }
}
