import Module, { createRequire } from 'node:module'
import type BetterSqlite from 'better-sqlite3'
import type { Test } from 'tap'
import { openSqliteFile } from '../../src/store/sqlite/sqlite-driver.ts'

/** The reason to skip tests that need SQLite; false when it works on this machine. */
export const sqliteSkipReason: string | false = (() => {
  try {
    openSqliteFile(':memory:', {}).close()
    return false
  } catch (error) {
    return `NOT RUN: ${(error as Error).message}`
  }
})()

/** The driver; undefined on a machine that lacks it, so that any use throws. */
export const Database: typeof BetterSqlite = sqliteSkipReason
  ? (undefined as never)
  : createRequire(import.meta.url)('better-sqlite3')

/** Skips the whole test file on a machine without SQLite. */
export function requireSqlite(t: { plan(count: number, reason: string): void }): void {
  if (sqliteSkipReason === false) return
  t.plan(0, sqliteSkipReason)
  process.exit()
}

/** Makes better-sqlite3 impossible to load until the test ends, as if it were not installed. */
export function hideSqlite(t: Test): void {
  const loader = Module as unknown as { _load(name: string, ...rest: unknown[]): unknown }
  const load = loader._load
  t.capture(loader, '_load', (name, ...rest) => {
    if (name !== 'better-sqlite3') return load(name, ...rest)
    throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
  })
}
