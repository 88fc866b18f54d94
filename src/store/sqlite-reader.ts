import { existsSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { openSqliteFile } from './sqlite-driver.ts'

/** How long a lock of another process may keep a reader waiting, in milliseconds. */
const timeout = 1_000

/** Opens a SQLite file read-only, while a service has it open or not. */
export function openReadOnly(path: string): { database: Database.Database; close(): void } {
  const hadJournal = existsSync(`${path}-wal`)
  const database = openSqliteFile(path, { readonly: true, fileMustExist: true, timeout })
  return {
    database,
    close() {
      database.close()
      // A reader of a file in WAL mode makes a journal, and cannot remove it: it would stay with this user as its owner. A
      // connection that may write removes it when it is the last one.
      if (!hadJournal && existsSync(`${path}-wal`)) {
        const writer = openSqliteFile(path, { timeout })
        writer.pragma('user_version')
        writer.close()
      }
    },
  }
}

/** Runs `use` with a SQLite file that is opened read-only, and returns its result. */
export function readDatabase<Result>(path: string, use: (database: Database.Database) => Result): Result {
  const { database, close } = openReadOnly(path)
  try {
    return use(database)
  } finally {
    close()
  }
}
