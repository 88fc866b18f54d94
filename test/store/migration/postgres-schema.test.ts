import pg from 'pg'
import t, { type Test } from 'tap'
import { query } from '../../../scripts/postgres/temporary-postgres.ts'
import { testDatabase } from '../../../scripts/postgres/test-database.ts'
import { until } from '../../../scripts/system/poll.ts'
import { openPostgres } from '../../../src/store/postgres.ts'
import { openPostgresTables } from '../../../src/store/postgres-migration.ts'
import { openPrimary } from '../../../src/store/postgres-primary.ts'
import { runPostgresSteps, whileContended } from '../../../src/store/postgres-schema.ts'
import { readPostgresUrl } from '../../../src/store/postgres-url.ts'
import { migrate } from '../../../src/store/schema-migration.ts'
import type { SchemaStep } from '../../../src/store/schema-step.ts'
import { exactly } from '../../support/exact-pattern.ts'
import { startServer } from '../postgres-stores.ts'
import { postgresNote } from './note-steps.ts'

const [expansion] = postgresNote as [SchemaStep]

/** Opens the database as a release with these steps does; closes it when the test ends. */
async function openRelease(t: Test, url: string, steps: SchemaStep[] = []) {
  const store = await openPostgres(url, undefined, steps)
  t.teardown(() => store.close())
  return store
}

/** Runs `plant-store migrate` of a release with these steps: `expand`, or also `contract`. */
async function migrateBy(url: string, steps: SchemaStep[], contract = false) {
  const tables = await openPostgresTables(url, steps)
  return await migrate(tables, contract).finally(tables.close)
}

const historyOf = (url: string) => query(url, 'SELECT version::int, oldest::int FROM plants_schema ORDER BY version')

t.test('a database of the first version has no history, and a start logs no server error', async (t) => {
  const server = await startServer(t)
  await openRelease(t, server.url())
  const begin = server.log.length
  await openRelease(t, server.url())
  t.same(await query(server.url(), "SELECT FROM information_schema.tables WHERE table_name = 'plants_schema'"), [])
  t.equal(server.log.slice(begin), '')
})

t.test('a release expands an empty and a filled database that older instances keep using', async (t) => {
  const empty = await testDatabase(t)
  await openRelease(t, empty, postgresNote)
  t.same(await historyOf(empty), [{ version: 2, oldest: 1 }])

  const url = await testDatabase(t)
  const old = await openRelease(t, url)
  t.equal(await old.create({ id: 1n, name: 'a' }), 'created')
  const next = await openRelease(t, url, postgresNote)
  for (const store of [old, next, await openRelease(t, url)]) {
    t.equal(await store.create({ id: 1n, name: 'a' }), 'identical')
    t.equal(await store.create({ id: 1n, name: 'b' }), 'conflict')
    await store.ready()
  }
  t.equal(await old.create({ id: 2n, name: 'b' }), 'created')
  t.same(await next.get(2n), { id: 2n, name: 'b' })
})

t.test('of many starting instances one runs each step, and all serve', async (t) => {
  for (const make of [true, false]) {
    const url = await testDatabase(t)
    if (make) await openRelease(t, url)
    const stores = await Promise.all(Array.from({ length: 8 }, () => openRelease(t, url, postgresNote)))
    t.same(await historyOf(url), [{ version: 2, oldest: 1 }])
    t.equal(await stores[7]?.create({ id: 1n, name: 'a' }), 'created')
  }
})

t.test('a step waits for its lock in short turns, so that creates continue, and finally gives up', async (t) => {
  const url = await testDatabase(t)
  const old = await openRelease(t, url)
  const reader = new pg.Client(url)
  await reader.connect()
  await reader.query('BEGIN; SELECT FROM plants')
  const primary = openPrimary(readPostgresUrl(url))
  t.teardown(() => primary.close())
  const locked =
    'schema version 2 cannot be applied: canceling statement due to lock timeout; ' +
    'end the transactions that hold a lock on the table plants, and try again'
  const asked = [expansion]
  await t.rejects(runPostgresSteps(primary, { steps: asked, asked, limit: 0 }), { message: exactly(locked) })

  const starting = openRelease(t, url, postgresNote)
  let isOpen = false
  void starting.then(() => {
    isOpen = true
  })
  const waits: number[] = []
  const end = performance.now() + 5_000
  for (let id = 0n; performance.now() < end; id++) {
    const started = performance.now()
    t.equal(await old.create({ id, name: 'a' }), 'created')
    waits.push(performance.now() - started)
  }
  const longest = Math.max(...waits)
  t.ok(longest > 1_000, `creates wait behind the step: ${longest} ms`)
  t.ok(longest < 4_500, `creates wait no longer than one lock timeout: ${longest} ms`)
  t.notOk(isOpen)
  await reader.query('COMMIT')
  await reader.end()
  await starting
  t.same(await historyOf(url), [{ version: 2, oldest: 1 }])
})

t.test('a step does not wait for the end of an autovacuum', async (t) => {
  const slow = { autovacuum_naptime: '1s', autovacuum_vacuum_cost_delay: '100ms', autovacuum_vacuum_cost_limit: '1' }
  const server = await startServer(t, { settings: slow })
  await openRelease(t, server.url())
  await server.query("INSERT INTO plants SELECT id, 'a' FROM generate_series(1, 50000) AS id")
  await server.query("UPDATE plants SET tag = 'b'")
  const vacuum = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'autovacuum: VACUUM%public.plants'"
  await until(async () => (await server.query(vacuum)).length > 0, 'an autovacuum')
  await openRelease(t, server.url(), postgresNote)
  t.match(server.log, /canceling autovacuum task/)
})

t.test('without ALTER privileges the start fails with the remedy, and succeeds after the migration', async (t) => {
  const url = await testDatabase(t)
  const role = new URL(url).pathname.slice(1)
  const guest = Object.assign(new URL(url), { username: role }).href
  await openRelease(t, url)
  await query(url, `CREATE ROLE ${role} LOGIN; GRANT SELECT, INSERT, UPDATE ON plants TO ${role}`)
  t.teardown(() => query(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`))
  await openRelease(t, guest)
  const denied = 'permission denied for schema public; run plant-store migrate expand as the owner of the table plants'
  await t.rejects(openPostgres(guest, undefined, postgresNote), {
    message: exactly(`schema version 2 cannot be applied: ${denied}`),
  })
  await migrateBy(url, postgresNote)
  for (const steps of [[], postgresNote]) {
    const store = await openRelease(t, guest, steps)
    t.equal(await store.create({ id: BigInt(steps.length), name: 'a' }), 'created')
  }
  await query(url, `REVOKE SELECT ON plants_schema FROM PUBLIC; GRANT INSERT ON plants_schema TO ${role}`)
  await t.rejects(openPostgres(guest), { message: /^permission denied for table plants_schema$/ })
})

t.test('a failed step leaves the tables unchanged', async (t) => {
  const url = await testDatabase(t)
  await openRelease(t, url)
  const wrong = [{ ...expansion, sql: `${expansion.sql}; ALTER TABLE plants ADD COLUMN name text` }]
  await t.rejects(openPostgres(url, undefined, wrong), {
    message: /^schema version 2 cannot be applied: column "name" .* already exists; the tables are left as they were$/,
  })
  t.same(await historyOf(url), [])
  await openRelease(t, url, postgresNote)
})

t.test('a backfill fills every missing value once, up to the largest id', async (t) => {
  const url = await testDatabase(t)
  const old = await openRelease(t, url)
  const last = 2n ** 63n - 1n
  const ids = [-(2n ** 63n), ...Array.from({ length: 1_998 }, (_, n) => BigInt(n)), last]
  await Promise.all(ids.map((id) => old.create({ id, name: `plant ${id}` })))
  const left = postgresNote.slice(1)
  t.same(await migrateBy(url, postgresNote), { version: 2, filled: 2_000, left })
  t.same(await query(url, 'SELECT count(*)::int FROM plants WHERE note IS DISTINCT FROM upper(name)'), [{ count: 0 }])
  await old.create({ id: 5_000n, name: 'late' })
  t.same(await migrateBy(url, postgresNote), { version: 2, filled: 1, left })
  t.same(await migrateBy(url, postgresNote), { version: 2, filled: 0, left })
})

t.test('a contraction requires backfilled values, and then rejects older instances in one line', async (t) => {
  const url = await testDatabase(t)
  const old = await openRelease(t, url)
  await old.create({ id: 1n, name: 'a' })
  await migrateBy(url, postgresNote, true)
  t.same(await historyOf(url), [
    { version: 2, oldest: 1 },
    { version: 3, oldest: 2 },
    { version: 4, oldest: 2 },
  ])
  await t.rejects(openPostgres(url, undefined, []), {
    message: exactly('it has schema version 2, newer than version 1 of this service; run the newer service'),
  })
  await t.rejects(old.create({ id: 2n, name: 'b' }), /violates check constraint "noted"/, 'an outdated instance fails')
  const next = await openRelease(t, url, [expansion])
  t.same(await next.get(1n), { id: 1n, name: 'a' }, 'the release that expanded the schema still works')
  t.same(await migrateBy(url, postgresNote, true), { version: 4, filled: 0, left: [] })
})

t.test('the history of another schema is ignored', async (t) => {
  const url = await testDatabase(t)
  await query(url, 'CREATE SCHEMA other; CREATE TABLE other.plants_schema (version bigint, oldest bigint)')
  await query(url, 'INSERT INTO other.plants_schema VALUES (99, 99)')
  await openRelease(t, url, postgresNote)
  t.same(await historyOf(url), [{ version: 2, oldest: 1 }])
})

t.test('failures caused by other transactions are retried, others are not', async (t) => {
  const failing = (code: string, times: number) => {
    let left = times
    return async () => {
      if (left-- > 0) throw Object.assign(new Error('failed'), { code })
      return 'done'
    }
  }
  t.equal(await whileContended(failing('40P01', 1)), 'done')
  await t.rejects(whileContended(failing('40P01', 1), 0), { code: '40P01' })
  await t.rejects(whileContended(failing('42601', 1)), { code: '42601' })
  await t.rejects(
    whileContended(async () => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  )
})
