import type { Database } from 'better-sqlite3'
import { maxPageSize, type PlantQueries, type PlantRow, plantFromRow, type StoredPlant } from '../plant-store.ts'

/** Prepares the statements of a query and returns a function that runs it in the thread of the database. */
type Prepare<Query extends (...args: never) => unknown> = (
  database: Database,
) => (...args: Parameters<Query>) => Awaited<ReturnType<Query>>

/** The queries of the SQLite store by name. A new query is added only here: all other code passes names. */
export const sqliteQueries: { [Name in keyof PlantQueries]: Prepare<PlantQueries[Name]> } = {
  list(database) {
    const select = database.prepare<[bigint, number], PlantRow>(
      'SELECT id, name, tag FROM plants WHERE id >= ? ORDER BY id LIMIT ?',
    )
    select.safeIntegers()
    return (from, limit) => {
      const page: StoredPlant[] = []
      let size = 0
      for (const row of select.iterate(from, limit)) {
        page.push(plantFromRow(row))
        size += row.name.length + (row.tag?.length ?? 0)
        if (size >= maxPageSize) break
      }
      return page
    }
  },
}

/** Returns a function that runs a query of a database by its name. */
export function queryRunner(database: Database): (name: string, args: unknown[]) => unknown {
  const prepared = new Map<string, (...args: never[]) => unknown>(
    Object.entries(sqliteQueries).map(([name, prepare]) => [name, prepare(database)]),
  )
  return (name, args) => prepared.get(name)?.(...(args as never[]))
}

/** Returns a function for each query, which calls `ask` with the name of the query. */
export function queriesOf(ask: (name: string, args: unknown[]) => Promise<unknown>): PlantQueries {
  const names = Object.keys(sqliteQueries)
  return Object.fromEntries(names.map((name) => [name, (...args: unknown[]) => ask(name, args)])) as PlantQueries
}
