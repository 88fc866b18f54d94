import { accessSync, constants } from 'node:fs'
import { openSqliteFile } from './sqlite-driver.ts'

/**
 * Locks a file, which is made where it is missing, stays empty and is never removed. The lock is SQLite's and ends with its
 * process in any way. Returns what releases it, which must be kept: the lock ends when that is collected as garbage. Throws
 * SQLITE_BUSY when another process keeps the lock for longer than `timeout` milliseconds, and EACCES when this user may not
 * write the file.
 */
export function lockFile(path: string, timeout: number): () => void {
  const database = openSqliteFile(path, { timeout })
  try {
    database.exec('BEGIN EXCLUSIVE')
    // SQLite takes a file that it may not write, and then locks nothing.
    accessSync(path, constants.W_OK)
  } catch (error) {
    database.close()
    throw error
  }
  return () => database.close()
}
