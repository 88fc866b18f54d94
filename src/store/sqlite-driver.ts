import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type Database from 'better-sqlite3'

const require = createRequire(import.meta.url)

/** Loads better-sqlite3. Throws NoSqlite for a binary that would abort the process. */
export function loadDriver(locate: (id: string) => string = require.resolve): typeof Database {
  const binary = join(dirname(locate('better-sqlite3')), '..', 'build', 'Release', 'better_sqlite3.node')
  isUsable ||= !abortsLater(binary)
  if (isUsable) return require('better-sqlite3')
  const reason = 'better-sqlite3 was compiled with Node 24.19 or later, and would abort the process'
  throw new NoSqlite(reason, 'run npm rebuild better-sqlite3 with Node 22 or with Node 24.18', undefined)
}

/** Whether the binary has been checked: reading its 2 MB takes a millisecond. */
let isUsable = false

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
  constructor(reason: string, remedy: string, cause: unknown) {
    const alternative = 'or set STORE_URL to memory: or postgres://USER@HOST/DATABASE'
    super(`SQLite is missing, because ${reason}; ${remedy}, ${alternative}`, { cause })
  }
}

/**
 * Opens a SQLite file. Loads the driver only now, because it is an optional package. Throws NoSqlite, in one line with
 * a remedy, when the driver cannot be used.
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
