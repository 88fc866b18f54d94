import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncPath } from './durable-files.ts'

/** The name of a backup that is to take the place of the file: once it is there the restore is decided. */
export const restoredPath = (path: string): string => `${path}-restored`

/** The name that the file gets, with its journal, when a backup takes its place. */
export const replacedPath = (path: string): string => `${path}-replaced`

/**
 * Puts the backup of a decided restore in the place of the file, or does nothing when there is none. The caller holds the
 * lock of the file. A crash at any moment leaves what the next call finishes. SQLite would apply the journal of the old
 * file to the new one, so the journal is moved away, and that is synced, before the new file gets its name.
 */
export function finishRestore(path: string): void {
  if (!existsSync(restoredPath(path))) return
  for (const suffix of ['', '-wal', '-journal']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, replacedPath(path) + suffix)
  }
  // It is an index of the journal, which SQLite makes again.
  rmSync(`${path}-shm`, { force: true })
  syncPath(dirname(path))
  renameSync(restoredPath(path), path)
  syncPath(dirname(path))
}
