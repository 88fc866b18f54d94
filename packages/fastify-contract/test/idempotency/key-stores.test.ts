import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { keyStoreConformance } from '../../src/idempotency/conformance.ts'
import { memoryKeys, type SqliteKeyDatabase, sqliteKeys } from '../../src/idempotency.ts'

for (const [name, run] of Object.entries(keyStoreConformance)) {
  t.test(`keys in memory: ${name}`, async () => {
    let time = 0
    const wait = async (milliseconds: number) => {
      time += milliseconds
    }
    await run(async (limits) => memoryKeys(limits, () => time), { isPrivate: true, wait })
  })
}

t.test('limits that are not positive are rejected', async (t) => {
  t.throws(() => memoryKeys({ lease: 0 }), { message: /lease of the idempotency keys is 0/ })
})

type Driver = { DatabaseSync: new (path: string) => SqliteKeyDatabase & { close(): void } }

/** The SQLite drivers of this machine; Node has one from version 22.13. */
const drivers: Record<string, Driver | undefined> = {
  'node:sqlite': process.getBuiltinModule('node:sqlite' as string) as Driver | undefined,
  '@photostructure/sqlite': createRequire(import.meta.url)('@photostructure/sqlite') as Driver,
}

for (const [driver, module] of Object.entries(drivers))
  for (const [name, run] of Object.entries(keyStoreConformance))
    t.test(
      `keys in SQLite, by ${driver}: ${name}`,
      { skip: module === undefined && 'this Node has none' },
      async (t) => {
        const directory = mkdtempSync(join(tmpdir(), 'idempotency-'))
        t.teardown(() => rmSync(directory, { recursive: true }))
        let shift = 0
        const open = async (limits = {}) => {
          const database = new (module as Driver).DatabaseSync(join(directory, 'keys.db'))
          t.teardown(() => database.close())
          return sqliteKeys(database, { ...limits, now: () => Date.now() + shift })
        }
        const wait = async (milliseconds: number) => {
          shift += milliseconds
          await sleep(0)
        }
        await run(open, { wait })
      },
    )

t.test('a table name that would need quotes is rejected', async (t) => {
  const database = { exec() {}, prepare: () => ({ get() {}, run: () => ({ changes: 0 }) }) }
  t.throws(() => sqliteKeys(database, { table: 'a; DROP TABLE b' }), { message: /use lower-case letters/ })
})
