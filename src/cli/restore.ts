import { chmodSync, chownSync, existsSync, realpathSync, renameSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createDurableDirectory, syncPath } from '../store/durable-files.ts'
import { lockFile } from '../store/file-lock.ts'
import { realPathOf } from '../store/real-path.ts'
import { openError } from '../store/sqlite-open-error.ts'
import { finishRestore, replacedPath, restoredPath } from '../store/sqlite-restore.ts'
import { assertSound, copyPlants, sqlitePath } from './plant-file.ts'

/** How long to wait for the lock of another process, in milliseconds. */
const timeout = 1_000

/**
 * Replaces the SQLite file of STORE_URL with a copy of a backup, and keeps the old file with its journal beside it.
 * After a crash at any moment, the old file is in place, or the next start of the service finishes the restore. Returns
 * a line to print. Throws one line when a service has the file open or the backup is damaged. Nothing is changed then,
 * unless an interrupted restore had to be finished first.
 */
export function restore(source: string, environment: NodeJS.ProcessEnv): string {
  const given = sqlitePath(environment)
  assertSound(source)
  createDurableDirectory(dirname(given))
  const path = realPathOf(given)
  if (realpathSync(source) === path) throw new Error(`${source} is the file of STORE_URL itself; name a backup`)
  const release = lock(path)
  try {
    return replace(path, source)
  } finally {
    release()
  }
}

function replace(path: string, source: string): string {
  finishRestore(path)
  const replaced = replacedPath(path)
  if (existsSync(replaced)) {
    throw new Error(`${replaced} still exists, from the last restore; move it away with its -wal file, or remove both`)
  }
  const copy = `${path}-restoring`
  rmSync(copy, { force: true })
  const plants = copyPlants(source, copy)
  const old = statSync(path, { throwIfNoEntry: false })
  giveTo(old ?? statSync(dirname(path)), copy)
  if (old !== undefined) chmodSync(copy, old.mode & 0o777)
  syncPath(copy)
  renameSync(copy, restoredPath(path))
  syncPath(dirname(path))
  finishRestore(path)
  const kept = old === undefined ? '' : `; the old file is now ${replaced}`
  return `${plants} plants of ${source} are in ${path}${kept}\n`
}

/** Locks the SQLite file as the service does. */
function lock(path: string): () => void {
  const name = `${path}-lock`
  const isNew = !existsSync(name)
  try {
    const release = lockFile(name, timeout)
    if (isNew) giveTo(statSync(dirname(path)), name)
    return release
  } catch (error) {
    const { message } = openError(error as Error, path)
    throw new Error(`${path}: ${message.replace('by another process', '$&; stop the service first')}`, { cause: error })
  }
}

/** Changes the owner of a file that root created to the user of the service, which must be able to write it. */
function giveTo({ uid, gid }: Stats, path: string): void {
  if (process.getuid?.() === 0) chownSync(path, uid, gid)
}
