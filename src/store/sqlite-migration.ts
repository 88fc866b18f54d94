import type { PlantQueries } from './plant-store.ts'
import type { SchemaTables } from './schema-migration.ts'
import { openDatabase } from './sqlite-database.ts'
import { baseVersion } from './sqlite-schema.ts'
import { sqliteSteps } from './sqlite-steps.ts'

/** Opens a SQLite file for a migration, while a service may have it open. Throws as `openDatabase` does. */
export function openSqliteTables(path: string, steps = sqliteSteps): SchemaTables {
  const { tables, query, close } = openDatabase(path, true, steps)
  return {
    steps,
    base: baseVersion,
    count: async (from, limit) => query('count', [from, limit]) as ReturnType<PlantQueries['count']>,
    read: async () => tables.read(),
    apply: async (asked) => tables.apply(asked),
    fill: async (backfill, from, last) => tables.fill(backfill, from, last),
    close: async () => close(),
  }
}
