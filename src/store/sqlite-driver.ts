import { createRequire } from 'node:module'
import type Database from 'better-sqlite3'

const loadDriver: () => typeof Database = () => createRequire(import.meta.url)('better-sqlite3')

/** Reports that the optional package better-sqlite3 is not installed or has no binary. */
export class NoSqlite extends Error {
  constructor(reason: string, remedy: string, cause: unknown) {
    const alternative = 'or set STORE_URL to memory: or postgres://USER@HOST/DATABASE'
    super(`SQLite is missing, because ${reason}; ${remedy}, ${alternative}`, { cause })
  }
}

/**
 * Opens a SQLite file. Loads the driver only now, because it is an optional package. Throws NoSqlite, in one line with
 * a remedy, when the driver cannot be used.
 */
export function openSqliteFile(path: string, options: Database.Options, load = loadDriver): Database.Database {
  try {
    const Driver = load()
    return new Driver(path, options)
  } catch (error) {
    throw noSqlite(error as Failure) ?? error
  }
}

/** The package `bindings`, which looks for the binary, adds the paths that it tried as `tries`. */
type Failure = Error & { code?: string; tries?: string[] }

function noSqlite(error: Failure): NoSqlite | undefined {
  if (error.tries !== undefined || error.code === 'ERR_DLOPEN_FAILED') {
    return new NoSqlite('better-sqlite3 has no binary for this Node', 'run npm rebuild better-sqlite3', error)
  }
  if (error.code !== 'MODULE_NOT_FOUND') return undefined
  const reason = 'the optional package better-sqlite3 is not installed'
  return new NoSqlite(reason, 'install again on a machine with a C++ compiler, make and Python', error)
}
