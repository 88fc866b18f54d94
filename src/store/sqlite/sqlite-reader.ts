import { existsSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { realPathOf } from 'fastify-contract/files'
import type { PlantReader } from '../plant-store.ts'
import { openSqliteFile } from './sqlite-driver.ts'
import { pendingRestore } from './sqlite-files.ts'
import { queriesOf, queryRunner } from './sqlite-queries.ts'
import { assertPlants } from './sqlite-schema.ts'

/** How long a reader waits for a lock of another process, in milliseconds. */
const timeout = 1_000

/**
 * Opens a SQLite file read-only, while a service may have it open. Throws when it is missing or cannot be opened, or when
 * a restore that was interrupted will replace it.
 */
export function openReadOnly(path: string): { database: Database.Database; close(): void } {
  // SQLite and a restore follow a symbolic link before they append a suffix.
  const real = realPathOf(path)
  const pending = pendingRestore(real)
  if (pending !== undefined) throw new Error(pending)
  if (!existsSync(real)) throw new Error('it does not exist')
  const hadJournal = existsSync(`${real}-wal`)
  const database = openSqliteFile(real, { readonly: true, fileMustExist: true, timeout })
  return {
    database,
    close() {
      database.close()
      // A read-only connection creates a write-ahead log, owned by this user, and cannot remove it. A writable
      // connection removes it when it is closed as the last one.
      if (!hadJournal && existsSync(`${real}-wal`)) {
        const writer = openSqliteFile(real, { timeout })
        writer.pragma('user_version')
        writer.close()
      }
    },
  }
}

/** Opens a SQLite file read-only, calls `use` with it, closes it, and returns the result. */
export function readDatabase<Result>(path: string, use: (database: Database.Database) => Result): Result {
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
