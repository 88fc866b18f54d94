import Module from 'node:module'
import type { Test } from 'tap'
import { loadDriver, type SqliteDatabase } from '../../src/store/sqlite/sqlite-driver.ts'

/** The reason to skip tests that need SQLite; false when it works on this machine. */
export const sqliteSkipReason: string | false = (() => {
  try {
    openFile(':memory:').close()
    return false
  } catch (error) {
    return `NOT RUN: ${(error as Error).message}`
  }
})()

/** Opens a SQLite file, like another program. */
export function openFile(path: string): SqliteDatabase {
  const { DatabaseSync } = loadDriver()
  return new DatabaseSync(path)
}

/** Runs a pragma of a file of `openFile`. Returns the first value of its first row. */
export function pragma(database: SqliteDatabase, text: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0]
}

/** Skips the whole test file on a machine without SQLite. */
export function requireSqlite(t: { plan(count: number, reason: string): void }): void {
  if (sqliteSkipReason === false) return
  t.plan(0, sqliteSkipReason)
  process.exit()
}

/** Makes SQLite impossible to load until the test ends, as on an older Node without the optional package. */
export function hideSqlite(t: Test): void {
  t.capture(process, 'getBuiltinModule', () => undefined)
  const loader = Module as unknown as { _load(name: string, ...rest: unknown[]): unknown }
  const load = loader._load
  t.capture(loader, '_load', (name, ...rest) => {
    if (name !== '@photostructure/sqlite') return load(name, ...rest)
    throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
  })
}
