import { accessSync, constants, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { lockFile } from './file-lock.ts'

/** SQLite's codes for a rejected lock. On a file system without locks (ENOLCK) it reports that a file is busy. */
const lockRefused = /^SQLITE_(BUSY|PROTOCOL|IOERR_\w*LOCK)/

/** The codes of SQLite and Node for a file that may not be opened or written. */
const accessRefused = /^(SQLITE_(CANTOPEN|READONLY|PERM|IOERR_SHM)|EACCES|EPERM|EROFS)/

type Failure = Error & { code?: string }

/** The checks that distinguish the causes. Tests replace them. */
const probes = { hasLocks, access: (path: string): void => accessSync(path, constants.R_OK | constants.W_OK) }

/** Returns an error of one line that names why the SQLite file at `path`, a real path, cannot be opened. */
export function openError(error: Failure, path: string, { hasLocks, access } = probes): Error {
  return new Error(reasonOf(error, path, { hasLocks, access }), { cause: error })
}

function reasonOf({ message, code = '' }: Failure, path: string, { hasLocks, access }: typeof probes): string {
  if (lockRefused.test(code) && !hasLocks(path)) {
    return 'its file system refuses file locks, as network mounts may do; mount it with locks, or use a local disk'
  }
  if (code.startsWith('SQLITE_BUSY')) return 'it is in use by another process'
  if (accessRefused.test(code)) return deniedFile(path, access) ?? message
  // Preparing a statement fails when its tables or columns are missing.
  if (code === 'SQLITE_ERROR') return `its tables are not those of its schema version: ${message}; restore a backup`
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return `${message}; plant-store check shows the damage, restore a backup`
  return message
}

/** Returns whether the file system of `path` supports locks. It locks a new file that no other process knows. */
export function hasLocks(path: string): boolean {
  const probe = `${path}-probe-${process.pid}`
  let isRefused = false
  try {
    lockFile(probe, 0)()
  } catch (error) {
    isRefused = lockRefused.test((error as { code: string }).code)
  }
  rmSync(probe, { force: true })
  return !isRefused
}

/** Returns a message about the first file or directory that this user may not write, or undefined. */
function deniedFile(path: string, access: typeof probes.access): string | undefined {
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-lock`, dirname(path)]) {
    try {
      access(file)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') continue
      if (code === 'EROFS') return `${file} is on a read-only file system; mount it writable`
      const { uid, mode } = statSync(file)
      const owner = `user ${uid}, mode ${(mode & 0o777).toString(8)}`
      return `${file} belongs to ${owner}; user ${process.getuid?.()} must be able to write it: change its owner`
    }
  }
  return undefined
}
