import { accessSync, constants } from 'node:fs'
import { openSqliteFile } from './sqlite-driver.ts'

/**
 * Locks a file, which is created empty when missing and never removed. Returns a function that releases the lock. Keep
 * a reference to it: garbage collection releases the lock too, and so does the end of the process. Throws SQLITE_BUSY
 * when another process keeps the lock for longer than `timeout` milliseconds, and EACCES when this user may not write
 * the file.
 */
export function lockFile(path: string, timeout: number): () => void {
  const database = openSqliteFile(path, { timeout })
  try {
    database.exec('BEGIN EXCLUSIVE')
    // SQLite also opens a file that this user may not write, but then it takes no lock.
    accessSync(path, constants.W_OK)
  } catch (error) {
    database.close()
    throw error
  }
  return () => database.close()
}
