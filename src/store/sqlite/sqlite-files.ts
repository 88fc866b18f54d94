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
  /** Returns the size in bytes of the write-ahead log when the files were last compared, 0 when it was gone. */
  journalBytes(): number
}

/** A change of a directory within this time after another may leave its times the same, in milliseconds: FAT has 2 s. */
const granularity = 3_000
/** The files are compared at least this often, in milliseconds: a mount, or a new symbolic link, leaves the directory as it is. */
const comparisonInterval = 1_000

/**
 * Remembers the device and inode of an open database and its write-ahead log. The files are compared by path, because
 * closing another descriptor of them would release SQLite's locks (fcntl(2)). Where their directory has not changed,
 * they are not read: since Linux 6.13, a write after a stat gets a time of its own, and the sync that has to write it
 * takes up to half as long again (docs.kernel.org/filesystems/multigrain-ts.html).
 */
export function watchFileIdentity(path: string, stat = statusOf): DatabaseFiles {
  // SQLite follows a symbolic link before it appends the suffix.
  const real = realpathSync(path)
  const journal = `${real}-wal`
  const directory = dirname(real)
  const opened = [path, journal].map((file) => ({ file, identity: identityOf(stat(file)) }))
  let journalBytes = 0
  let comparedAt = Number.NEGATIVE_INFINITY
  /** The directory at the last comparison; undefined when a later change could look the same. */
  let settled: Stats | undefined

  function assertInPlace(): void {
    const found = stat(directory)
    if (isSame(found, settled) && performance.now() - comparedAt < comparisonInterval) return
    settled = undefined
    const now = Date.now()
    compare()
    comparedAt = performance.now()
    if (found !== undefined && found.ctimeMs < now - granularity) settled = found
  }

  function compare(): void {
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

function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && one.ctimeMs === other?.ctimeMs && one.ino === other.ino && one.dev === other.dev
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
function statusOf(file: string): Stats | undefined {
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
