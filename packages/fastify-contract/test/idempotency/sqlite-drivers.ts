import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { keyStoreConformance } from '../../src/idempotency/conformance.ts'
import { type SqliteKeyDatabase, sqliteKeys } from '../../src/idempotency.ts'

export type Database = SqliteKeyDatabase & { close(): void }

/** The class of a driver whose constructor opens a file. */
export type Driver = new (path: string) => Database

type Module = { DatabaseSync: Driver }

/** Of Node from version 22.13 on; undefined before. */
const ofNode = process.getBuiltinModule('node:sqlite' as string) as Module | undefined
const ofPackage = createRequire(import.meta.url)('@photostructure/sqlite') as Module

/** The SQLite drivers of this machine. */
export const drivers: Record<string, Driver | undefined> = {
  'node:sqlite': ofNode?.DatabaseSync,
  '@photostructure/sqlite': ofPackage.DatabaseSync,
}

/** Returns a function that opens one file again and again, which the end of the test closes and removes. */
export function opener(t: Test, Driver: Driver = ofPackage.DatabaseSync): () => Database {
  const directory = mkdtempSync(join(tmpdir(), 'idempotency-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  return function openFile() {
    const database = new Driver(join(directory, 'keys.db'))
    t.teardown(() => database.close())
    // No test loses power.
    database.exec('PRAGMA synchronous = OFF')
    return database
  }
}

/** Tests a driver by the requirements on every store. */
export function testDriver(name: string, Driver: Driver | undefined, reason: string): void {
  const skip = Driver === undefined && reason
  for (const [requirement, run] of Object.entries(keyStoreConformance))
    t.test(`keys in SQLite, by ${name}: ${requirement}`, { skip }, async (t) => {
      const openFile = opener(t, Driver)
      let shift = 0
      const now = () => Date.now() + shift
      const wait = async (milliseconds: number) => {
        shift += milliseconds
      }
      await run(async (limits) => sqliteKeys(openFile(), { ...limits, now }), { wait })
    })
}
