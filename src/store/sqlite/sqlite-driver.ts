import { accessSync, constants, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type Database from 'better-sqlite3'
import { createLockFile } from '../atomic-file.ts'

const require = createRequire(import.meta.url)

/** Loads better-sqlite3. Throws NoSqlite for a binary that would abort the process. */
export function loadDriver(locate: (id: string) => string = require.resolve): typeof Database {
  const binary = join(dirname(locate('better-sqlite3')), '..', 'build', 'Release', 'better_sqlite3.node')
  if (!abortsLater(binary)) return require('better-sqlite3')
  const reason = 'better-sqlite3 was compiled with Node 24.19 or later, and would abort the process'
  throw new NoSqlite(reason, 'run npm rebuild better-sqlite3 with Node 22 or with Node 24.18', undefined)
}

/**
 * Returns whether a binary calls a function that aborts the process when V8 collects a database or a statement. The
 * headers of Node 24.19 and later compile this call into each add-on of better-sqlite3 12 (nodejs/node issue 65446).
 */
function abortsLater(binary: string): boolean {
  try {
    return readFileSync(binary).includes('RemoveEnvironmentCleanupHook')
  } catch {
    // Loading reports a missing binary.
    return false
  }
}

/** Reports that the optional package better-sqlite3 is not installed or has no binary. */
export class NoSqlite extends Error {
  constructor(reason: string, fix: string, cause: unknown) {
    const alternative = 'or set STORE_URL to memory: or postgres://USER@HOST/DATABASE'
    super(`SQLite is missing, because ${reason}; ${fix}, ${alternative}`, { cause })
  }
}

/**
 * Opens a SQLite file. Loads the driver only now, because it is an optional package. Throws NoSqlite, in one line with
 * a fix, when the driver cannot be used.
 */
export function openSqliteFile(
  path: string,
  options: Database.Options,
  load: () => typeof Database = loadDriver,
): Database.Database {
  try {
    const Driver = load()
    return new Driver(path, options)
  } catch (error) {
    throw noSqlite(error as LoadFailure) ?? error
  }
}

/** The package `bindings`, which looks for the binary, adds the paths that it tried as `tries`. */
type LoadFailure = Error & { code?: string; tries?: string[] }

function noSqlite(error: LoadFailure): NoSqlite | undefined {
  if (error.tries !== undefined || error.code === 'ERR_DLOPEN_FAILED') {
    return new NoSqlite('better-sqlite3 has no binary for this Node', 'run npm rebuild better-sqlite3', error)
  }
  if (error.code !== 'MODULE_NOT_FOUND') return undefined
  const reason = 'the optional package better-sqlite3 is not installed'
  return new NoSqlite(reason, 'install again on a machine with a C++ compiler, make and Python', error)
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

/** SQLite's codes for a rejected lock. On a file system without locks (ENOLCK) it reports that a file is busy. */
const lockRefused = /^SQLITE_(BUSY|PROTOCOL|IOERR_\w*LOCK)/

/** The codes of SQLite and Node for a file that may not be opened or written. */
const accessRefused = /^(SQLITE_(CANTOPEN|READONLY|PERM|IOERR_SHM)|EACCES|EPERM|EROFS)/

/** The message of `openError` for a file that another process has locked. */
export const inUse = 'it is in use by another process'

type OpenFailure = Error & { code?: string }

/** The checks that distinguish the causes. Tests replace them. */
const probes = { hasLocks, access: (path: string): void => accessSync(path, constants.R_OK | constants.W_OK) }

/** Returns an error of one line that names why the SQLite file at `path`, a real path, cannot be opened. */
export function openError(error: OpenFailure, path: string, checks = probes): Error {
  return new Error(reasonOf(error, path, checks), { cause: error })
}

function reasonOf({ message, code = '' }: OpenFailure, path: string, { hasLocks, access }: typeof probes): string {
  if (lockRefused.test(code) && !hasLocks(path)) {
    return 'its file system does not support file locks, as is common for network mounts; use a local disk'
  }
  if (code.startsWith('SQLITE_BUSY')) return inUse
  if (accessRefused.test(code)) return deniedFile(path, access) ?? message
  // Preparing a statement fails when its tables or columns are missing.
  if (code === 'SQLITE_ERROR') return `its tables do not match its schema version: ${message}; restore a backup`
  if (code.startsWith('SQLITE_CORRUPT')) return `${message}; run plant-store check, or restore a backup`
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
      const owner = `of user ${uid}, mode ${(mode & 0o777).toString(8)}`
      return `${file} (${owner}) is not writable by user ${process.getuid?.()}; change its owner or mode`
    }
  }
  return undefined
}
