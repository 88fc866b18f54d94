import { existsSync, realpathSync, renameSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { renameDurably, syncPath } from '../atomic-file.ts'

/** The files of an open database: the database itself and its write-ahead log. */
export type DatabaseFiles = {
  /**
   * Returns a function that throws when one of the files was removed or replaced. It checks before `run`, so that
   * nothing is written to a wrong file, and after it, because a commit to an unlinked file must not be acknowledged.
   */
  guard<Args extends unknown[], Result>(run: (...args: Args) => Result): (...args: Args) => Result
  /** Returns the size in bytes of the write-ahead log when it was last checked, 0 when it was gone. */
  journalBytes(): number
}

/**
 * Remembers the device and inode of an open database and its write-ahead log. The files are compared by path, because
 * closing another descriptor of them would release SQLite's locks (fcntl(2)).
 */
export function watchFileIdentity(path: string): DatabaseFiles {
  // SQLite follows a symbolic link before it appends the suffix.
  const journal = `${realpathSync(path)}-wal`
  const opened = [path, journal].map((file) => ({ file, identity: identityOf(stat(file)) }))
  let journalBytes = 0
  function assertInPlace(): void {
    for (const { file, identity } of opened) {
      const found = stat(file)
      if (file === journal) journalBytes = found?.size ?? 0
      if (identityOf(found) !== identity) throw new MovedError(file)
    }
  }
  return {
    guard(run) {
      return function guarded(...args) {
        assertInPlace()
        const result = run(...args)
        assertInPlace()
        return result
      }
    },
    journalBytes: () => journalBytes,
  }
}

/** Reports a moved file with SQLite's own error code, because SQLite does not check for moved files in WAL mode. */
class MovedError extends Error {
  readonly code = 'SQLITE_READONLY_DBMOVED'
  constructor(file: string) {
    super(`${file} was removed or replaced while it was in use; put it back, or restart the service on the right one`)
  }
}

function identityOf(found: Stats | undefined): string | undefined {
  return found && `${found.dev}:${found.ino}`
}

/** Returns the status of a file, or undefined when it cannot be read for any reason. */
function stat(file: string): Stats | undefined {
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}

/** Returns the path of a backup that will replace the file. Once this file exists, the restore will be completed. */
export const restoredPath = (path: string): string => `${path}-restored`

/** Returns a message about an interrupted restore of a real path that will be completed; undefined if there is none. */
export const pendingRestore = (path: string): string | undefined =>
  existsSync(restoredPath(path))
    ? `a restore was interrupted, and ${restoredPath(path)} will replace the file; start the service to finish it`
    : undefined

/** Returns the path to which the file and its journal are moved when a backup replaces it. */
export const replacedPath = (path: string): string => `${path}-replaced`

/**
 * Replaces the file with the backup at `restoredPath`, or does nothing when there is none. The caller must hold the
 * lock of the file. After a crash at any moment, the next call finishes the restore. SQLite would apply the journal of
 * the old file to the new one, so the journal is moved away, and the move synced, before the backup is renamed.
 */
export function finishRestore(path: string): void {
  if (!existsSync(restoredPath(path))) return
  for (const suffix of ['', '-wal', '-journal']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, replacedPath(path) + suffix)
  }
  // The -shm file is an index of the write-ahead log, which SQLite creates again.
  rmSync(`${path}-shm`, { force: true })
  syncPath(dirname(path))
  renameDurably(restoredPath(path), path)
}
