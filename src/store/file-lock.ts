import { accessSync, closeSync, constants, lstatSync, openSync } from 'node:fs'
import { openSqliteFile } from './sqlite-driver.ts'

/**
 * Creates a lock file when it is missing. Throws ELOOP for a symbolic link: a user who may write the directory could
 * plant one, and a command of root would create or open its target.
 */
export function createLockFile(path: string, mode = 0o644): void {
  try {
    // An existing file is not opened, since closing it would release the locks that this process holds on it.
    closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (!lstatSync(path).isSymbolicLink()) return
    throw Object.assign(new Error(`${path} is a symbolic link; remove it`), { code: 'ELOOP' })
  }
}

/**
 * Locks a file, which is created empty when missing and never removed. Returns a function that releases the lock. Keep
 * a reference to it: garbage collection releases the lock too, and so does the end of the process. Throws SQLITE_BUSY
 * when another process keeps the lock for longer than `timeout` milliseconds, EACCES when this user may not write the
 * file, and ELOOP when it is a symbolic link.
 */
export function lockFile(path: string, timeout: number): () => void {
  createLockFile(path)
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
