import Module, { createRequire } from 'node:module'
import type BetterSqlite from 'better-sqlite3'
import type { Test } from 'tap'
import { openSqliteFile } from '../../src/store/sqlite-driver.ts'

/** Why a test that needs SQLite does not run on this machine, else false. */
export const sqliteSkipReason: string | false = (() => {
  try {
    openSqliteFile(':memory:', {}).close()
    return false
  } catch (error) {
    return `NOT RUN: ${(error as Error).message}`
  }
})()

/** The driver, which cannot be called where it is missing. */
export const Database: typeof BetterSqlite = sqliteSkipReason
  ? (undefined as never)
  : createRequire(import.meta.url)('better-sqlite3')

/** Ends a test file that needs SQLite for all that it tests, on a machine without. */
export function requireSqlite(t: { plan(count: number, reason: string): void }): void {
  if (sqliteSkipReason === false) return
  t.plan(0, sqliteSkipReason)
  process.exit()
}

/** Makes this process fail to find better-sqlite3 until the test ends, as on a machine where it is not installed. */
export function hideSqlite(t: Test): void {
  const loader = Module as unknown as { _load(name: string, ...rest: unknown[]): unknown }
  const load = loader._load
  t.capture(loader, '_load', (name, ...rest) => {
    if (name !== 'better-sqlite3') return load(name, ...rest)
    throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
  })
}
