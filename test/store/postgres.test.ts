import t, { type Test } from 'tap'
import { query } from '../../scripts/postgres/temporary-postgres.ts'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { until } from '../../scripts/system/poll.ts'
import { conformance } from '../../src/store/conformance.ts'
import { openStore } from '../../src/store/open.ts'
import type { PlantStore } from '../../src/store/plant-store.ts'
import { openPostgres } from '../../src/store/postgres/postgres-store.ts'
import { exactly } from '../support/exact-pattern.ts'
import { raceCreates } from './create-race.ts'
import { querySuite } from './query-suite.ts'

for (const [name, run] of Object.entries(conformance)) {
  t.test(name, async (t) => {
    const url = await testDatabase(t)
    await t.resolves(run(() => openStore(url), true))
  })
}

for (const [name, run] of Object.entries(querySuite)) {
  t.test(name, async (t) => {
    const store = await openPostgres(await testDatabase(t))
    await run(store)
    await store.close()
    await t.rejects(store.list(1n, 1), { message: /^the store is closed$/ })
  })
}

t.test('a query on a missing table fails with Unavailable', async (t) => {
  const url = await testDatabase(t)
  const store = await openPostgres(url)
  await query(url, 'ALTER TABLE plants RENAME TO flowers')
  await t.rejects(store.list(0n, 1), { name: 'Unavailable', message: /^relation "plants" does not exist$/ })
  await query(url, 'ALTER TABLE flowers RENAME TO plants')
  t.same(await store.list(0n, 1), [])
  await store.close()
})

/** Opens several stores on one database, like several instances of the service. */
async function instances(t: Test, url: string, count: number): Promise<PlantStore[]> {
  const stores = await Promise.all(Array.from({ length: count }, () => openStore(url)))
  t.teardown(() => Promise.all(stores.map((store) => store.close())))
  return stores
}

t.test('concurrent instances create the table once', async (t) => {
  for (let round = 0; round < 5; round++) {
    const url = await testDatabase(t)
    const stores = await instances(t, url, 8)
    t.equal(await stores[0]?.create({ id: 1n, name: 'a' }), 'created')
    t.equal(await stores[7]?.create({ id: 1n, name: 'a' }), 'identical')
  }
})

for (const isolation of ['read committed', 'repeatable read', 'serializable']) {
  t.test(`a race of instances has one winner for each id, under ${isolation}`, async (t) => {
    const url = await testDatabase(t)
    await query(
      url,
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_isolation = '${isolation}'`,
    )
    const stores = await instances(t, url, 4)
    const ids = 3_001
    const outcomes = await raceCreates(stores, ids)
    t.equal(outcomes.size, ids)
    for (const each of outcomes.values()) each.sort()
    t.same(new Set([...outcomes.values()].map(String)), new Set(['conflict,conflict,conflict,created']))
    const rows = await query(url, 'SELECT count(*)::int AS count FROM plants')
    t.same(rows, [{ count: ids }])
    await Promise.all(stores.map((store) => store.close()))
    t.equal(await deadlocks(url), 0)
  })
}

/** Returns PostgreSQL's count of deadlocks, which is complete once all other connections have ended. */
async function deadlocks(url: string): Promise<unknown> {
  const others = 'SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
  await until(async () => (await query(url, others)).length === 0, 'the other connections to end')
  const [row] = await query(url, 'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()')
  return row?.deadlocks
}

t.test('a plant that the server rejects fails alone', async (t) => {
  const url = await testDatabase(t)
  const [store] = (await instances(t, url, 1)) as [PlantStore]
  const names = ['a', 'with \u0000', 'c']
  const settled = await Promise.allSettled(names.map((name, id) => store.create({ id: BigInt(id), name })))
  t.same(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  t.match(settled[1], { reason: { code: /^22021$/ } })
})

t.test('a row that never becomes visible is not reported as a conflict', async (t) => {
  const url = await testDatabase(t)
  const [store] = (await instances(t, url, 1)) as [PlantStore]
  await query(url, 'CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$')
  await query(url, 'CREATE TRIGGER nothing BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION nothing()')
  await t.rejects(store.create({ id: 1n, name: 'a' }), { name: 'Unavailable', retryAfter: 1 })
})

t.test('a table with other columns or without a primary key is reported without SQL', async (t) => {
  const url = await testDatabase(t)
  const tables: [string, string][] = [
    ['id bigint PRIMARY KEY', 'column "name" of relation "plants" does not exist'],
    ['id text PRIMARY KEY, name text, tag text', 'operator does not exist: text = bigint'],
    [
      'id bigint, name text, tag text',
      'there is no unique or exclusion constraint matching the ON CONFLICT specification',
    ],
  ]
  for (const [columns, message] of tables) {
    await query(url, `CREATE TABLE plants (${columns})`)
    const expected = 'expected id bigint PRIMARY KEY, name text NOT NULL, tag text'
    await t.rejects(openStore(url), {
      message: exactly(`its table plants has the wrong schema: ${message}; ${expected}`),
    })
    await query(url, 'DROP TABLE plants')
  }
})
