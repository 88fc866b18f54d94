import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncPath } from './durable-files.ts'

/** Returns the path of a backup that will replace the file. Once a backup is there, the restore is decided. */
export const restoredPath = (path: string): string => `${path}-restored`

/** Returns what to do about a decided restore of a real path that was interrupted; undefined when there is none. */
export const pendingRestore = (path: string): string | undefined =>
  existsSync(restoredPath(path))
    ? `a restore was interrupted, and ${restoredPath(path)} will replace the file; start the service to finish it`
    : undefined

/** Returns the path to which the file and its journal are moved when a backup replaces it. */
export const replacedPath = (path: string): string => `${path}-replaced`

/**
 * Replaces the file with the backup of a decided restore, or does nothing when there is none. The caller must hold the
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
  renameSync(restoredPath(path), path)
  syncPath(dirname(path))
}
