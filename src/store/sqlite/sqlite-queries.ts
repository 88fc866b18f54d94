import { existsSync, statSync } from 'node:fs'
import { realPathOf } from '../atomic-file.ts'
import { type PlantQueries, type PlantReader, plantFromRow } from '../plant-store.ts'
import { openSqliteFile, pragma, type SqliteDatabase } from './sqlite-driver.ts'
import { pendingRestore } from './sqlite-files.ts'
import { assertPlants } from './sqlite-schema.ts'

/** Prepares the statements of a query and returns a function that runs it in the thread of the database. */
type Prepare<Query extends (...args: never) => unknown> = (
  database: SqliteDatabase,
) => (...args: Parameters<Query>) => Awaited<ReturnType<Query>>

/** The queries of the SQLite store by name. A new query is added only here: all other code passes names. */
export const sqliteQueries: { [Name in keyof PlantQueries]: Prepare<PlantQueries[Name]> } = {
  list(database) {
    // As JSON, because @photostructure/sqlite ends a text that it reads at a NUL.
    const select = database.prepare(
      'SELECT id, json_quote(name) AS name, json_quote(tag) AS tag FROM plants WHERE id >= ? ORDER BY id LIMIT ?',
    )
    select.setReadBigInts(true)
    const plantOf = ({ id, name, tag }: Record<'name' | 'tag', string> & { id: bigint }) =>
      plantFromRow({ id, name: JSON.parse(name), tag: JSON.parse(tag) })
    return (from, limit) => select.all(from, limit).map(plantOf)
  },
}

/** Returns a function that runs a query of a database by its name. */
export function queryRunner(database: SqliteDatabase): (name: string, args: unknown[]) => unknown {
  const prepared = new Map<string, (...args: never[]) => unknown>()
  for (const [name, prepare] of Object.entries(sqliteQueries)) prepared.set(name, prepare(database))
  return (name, args) => prepared.get(name)?.(...(args as never[]))
}

/** Returns a function for each query, which calls `ask` with the name of the query. */
export function queriesOf(ask: (name: string, args: unknown[]) => Promise<unknown>): PlantQueries {
  const names = Object.keys(sqliteQueries)
  return Object.fromEntries(names.map((name) => [name, (...args: unknown[]) => ask(name, args)])) as PlantQueries
}

/** How long a reader waits for a lock of another process, in milliseconds. */
const timeout = 1_000

/**
 * Opens a SQLite file read-only, while a service may have it open. Throws when it is missing or cannot be opened, or
 * when a restore that was interrupted will replace it.
 */
export function openReadOnly(path: string): { database: SqliteDatabase; close(): void } {
  // SQLite and a restore follow a symbolic link before they append a suffix.
  const real = realPathOf(path)
  const pending = pendingRestore(real)
  if (pending !== undefined) throw new Error(pending)
  const status = statSync(real, { throwIfNoEntry: false })
  if (status === undefined) throw new Error('it does not exist')
  if (status.isDirectory()) throw new Error('it is a directory; name a file')
  const hadJournal = existsSync(`${real}-wal`)
  const database = openSqliteFile(real, { readOnly: true, timeout })
  return {
    database,
    close() {
      database.close()
      // A read-only connection creates a write-ahead log, owned by this user, and cannot remove it. A writable
      // connection removes it when it is closed as the last one.
      if (!hadJournal && existsSync(`${real}-wal`)) {
        const writer = openSqliteFile(real, { timeout })
        pragma(writer, 'user_version')
        writer.close()
      }
    },
  }
}

/** Opens a SQLite file read-only, calls `use` with it, closes it, and returns the result. */
export function readDatabase<Result>(path: string, use: (database: SqliteDatabase) => Result): Result {
  const { database, close } = openReadOnly(path)
  try {
    return use(database)
  } finally {
    close()
  }
}

/**
 * Opens a SQLite file for reading, while a service may have it open. Each query is a transaction of its own, so that
 * the write-ahead log of the service does not grow between them. Throws when the file is missing, or has no table
 * of plants.
 */
export function openSqliteReader(path: string): PlantReader {
  const { database, close } = openReadOnly(path)
  try {
    assertPlants(database)
    const run = queryRunner(database)
    return { ...queriesOf(async (name, args) => run(name, args)), close: async () => close() }
  } catch (error) {
    close()
    throw error
  }
}
