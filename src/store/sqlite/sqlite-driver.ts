import { accessSync, constants, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { createLockFile } from '../atomic-file.ts'

/** What this service uses of a database. Both drivers have the interface of node:sqlite. */
export type SqliteDatabase = Pick<DatabaseSyncInstance, 'prepare' | 'exec' | 'close' | 'isTransaction'>
type Driver = { DatabaseSync: new (path: string, options?: { readOnly?: boolean; timeout?: number }) => SqliteDatabase }

type Options = {
  readOnly?: boolean
  /** How long a statement waits for a lock of another connection, in milliseconds. */
  timeout?: number
}

/** The optional package that replaces node:sqlite. It brings its binaries, so that nothing is compiled or downloaded. */
const optionalDriver = '@photostructure/sqlite'

/**
 * Loads node:sqlite where it prints no ExperimentalWarning, and otherwise the optional package. Throws NoSqlite, in one
 * line with a fix, when neither can be used.
 */
export function loadDriver(
  load: (name: string) => unknown = createRequire(import.meta.url),
  version = process.versions.node,
): Driver {
  // A Node that was built without SQLite, or runs with --no-experimental-sqlite, has no such module.
  const own = isStable(version) ? process.getBuiltinModule('node:sqlite' as string) : undefined
  if (own !== undefined) return own as Driver
  try {
    return load(optionalDriver) as Driver
  } catch (error) {
    throw new NoSqlite(error as NodeJS.ErrnoException)
  }
}

/** Returns whether node:sqlite is a release candidate or better in a version of Node (nodejs.org/api/sqlite.html). */
function isStable(version: string): boolean {
  const [major, minor] = version.split('.').map(Number) as [number, number]
  return major > 25 || (major === 25 && minor >= 7) || (major === 24 && minor >= 15)
}

/** Reports that this Node has no stable SQLite, and that the optional package is not installed or has no binary. */
export class NoSqlite extends Error {
  constructor(cause: NodeJS.ErrnoException) {
    const isInstalled = cause.code !== 'MODULE_NOT_FOUND'
    const platform = `${process.platform}-${process.arch}`
    const reason = isInstalled ? `has no usable binary for ${platform}` : 'is not installed'
    const fix = `run Node 24.15 or later${isInstalled ? '' : ', install with the optional packages'}`
    const alternative = 'or set STORE_URL to memory: or postgres://USER@HOST/DATABASE'
    super(`SQLite is missing, because the package ${optionalDriver} ${reason}; ${fix}, ${alternative}`, { cause })
  }
}

/**
 * Opens a SQLite file as the schema `store` of a database in memory. `close` of @photostructure/sqlite 1.2 leaves a
 * database open until its statements are collected as garbage, and with it the locks and the write-ahead log. Detaching
 * the schema closes the file at once. Throws NoSqlite, or an error whose code is that of `codeOf`.
 */
export function openSqliteFile(path: string, { readOnly = false, timeout = 0 }: Options): SqliteDatabase {
  const { DatabaseSync } = loadDriver()
  const database = new DatabaseSync(':memory:', { timeout })
  try {
    database.prepare('ATTACH ? AS store').run(`${pathToFileURL(path)}${readOnly ? '?mode=ro' : ''}`)
  } catch (error) {
    database.close()
    const failure = error as Error & { errstr: string }
    // The database in memory has UTF-8, and SQLite attaches no other encoding (sqlite.org/pragma.html#pragma_encoding).
    if (failure.message.includes('same text encoding')) {
      const problem = 'it, or its write-ahead log, is of another program, because it has UTF-16'
      throw new Error(`${problem}; check the path`, { cause: error })
    }
    // The driver's message is the same for all codes, and contains the URI.
    failure.message = failure.errstr
    if (codeOf(error) !== 'SQLITE_NOTADB') throw failure
    throw new Error('it is not a SQLite database; check the path, or restore a backup', { cause: error })
  }
  return {
    prepare: (sql) => database.prepare(sql),
    exec: (sql) => database.exec(sql),
    get isTransaction() {
      return database.isTransaction
    },
    close() {
      if (database.isTransaction) database.exec('ROLLBACK')
      database.exec('DETACH store')
      database.close()
    },
  }
}

/** Runs a pragma of a file, such as `user_version` or `user_version = 2`. Returns the first value of its first row. */
export function pragma(database: SqliteDatabase, text: string): unknown {
  return Object.values(database.prepare(`PRAGMA store.${text}`).get() ?? {})[0]
}

/** Returns a function that calls `run` in a transaction, and rolls it back when `run` or the commit throws. */
export function transaction<Args extends unknown[], Result>(
  database: SqliteDatabase,
  mode: 'IMMEDIATE' | 'EXCLUSIVE',
  run: (...args: Args) => Result,
): (...args: Args) => Result {
  return function runInTransaction(...args) {
    database.exec(`BEGIN ${mode}`)
    try {
      const result = run(...args)
      // `run` of a statement would throw after the commit if the id of the last row is beyond 2^53 (Node 26).
      database.exec('COMMIT')
      return result
    } catch (error) {
      // SQLite itself has rolled back after some errors, such as a full disk.
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }
}

/** The result codes that the service distinguishes (sqlite.org/rescode.html). */
const codes = new Map([
  [1, 'ERROR'],
  [3, 'PERM'],
  [5, 'BUSY'],
  [8, 'READONLY'],
  [10, 'IOERR'],
  [11, 'CORRUPT'],
  [13, 'FULL'],
  [14, 'CANTOPEN'],
  [15, 'PROTOCOL'],
  [26, 'NOTADB'],
  [778, 'IOERR_WRITE'],
  [1555, 'CONSTRAINT_PRIMARYKEY'],
  [2058, 'IOERR_UNLOCK'],
  [2314, 'IOERR_RDLOCK'],
  [3594, 'IOERR_CHECKRESERVEDLOCK'],
  [3850, 'IOERR_LOCK'],
  [4618, 'IOERR_SHMOPEN'],
  [4874, 'IOERR_SHMSIZE'],
  [5130, 'IOERR_SHMLOCK'],
  [5386, 'IOERR_SHMMAP'],
])

/** Returns the name of an error's result code, such as SQLITE_IOERR_WRITE; for other errors their code, or ''. */
export function codeOf(error: unknown): string {
  const { errcode, code = '' } = error as { errcode?: number; code?: string }
  if (errcode === undefined) return code
  return `SQLITE_${codes.get(errcode) ?? codes.get(errcode & 0xff) ?? errcode}`
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

/** The checks that distinguish the causes. Tests replace them. */
const probes = { hasLocks, access: (path: string): void => accessSync(path, constants.R_OK | constants.W_OK) }

/** Returns an error of one line that names why the SQLite file at `path`, a real path, cannot be opened. */
export function openError(error: Error, path: string, checks = probes): Error {
  return new Error(reasonOf(error, path, checks), { cause: error })
}

function reasonOf(error: Error, path: string, { hasLocks, access }: typeof probes): string {
  const { message } = error
  const code = codeOf(error)
  if (lockRefused.test(code) && !hasLocks(path)) {
    return 'its file system does not support file locks, as is common for network mounts; use a local disk'
  }
  if (code === 'SQLITE_BUSY') return inUse
  if (accessRefused.test(code)) return deniedFile(path, access) ?? message
  // Preparing a statement fails when its tables or columns are missing.
  if (code === 'SQLITE_ERROR') return `its tables do not match its schema version: ${message}; restore a backup`
  if (code === 'SQLITE_CORRUPT') return `${message}; run plant-store check, or restore a backup`
  return message
}

/** Returns whether the file system of `path` supports locks. It locks a new file that no other process knows. */
export function hasLocks(path: string): boolean {
  const probe = `${path}-probe-${process.pid}`
  let isRefused = false
  try {
    lockFile(probe, 0)()
  } catch (error) {
    isRefused = lockRefused.test(codeOf(error))
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
