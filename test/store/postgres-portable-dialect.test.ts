import pg from 'pg'
import t, { type Test } from 'tap'
import { query } from '../../scripts/postgres/temporary-postgres.ts'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { until } from '../../scripts/system/poll.ts'
import { conformance } from '../../src/store/conformance.ts'
import { chooseDialect, ownDialect, portableDialect } from '../../src/store/postgres/postgres-dialects.ts'
import { openPostgres } from '../../src/store/postgres/postgres-store.ts'
import { exactly } from '../support/exact-pattern.ts'
import { raceCreates } from './create-race.ts'
import { querySuite } from './query-suite.ts'

const portable = async () => portableDialect

async function open(t: Test, url: string) {
  const store = await openPostgres(url, portable)
  t.teardown(() => store.close())
  return store
}

for (const [name, run] of Object.entries(conformance)) {
  t.test(name, async (t) => {
    const url = await testDatabase(t)
    await t.resolves(run(() => openPostgres(url, portable), true))
  })
}

for (const [name, run] of Object.entries(querySuite)) {
  t.test(name, async (t) => {
    await run(await open(t, await testDatabase(t)))
  })
}

for (const isolation of ['read committed', 'repeatable read', 'serializable']) {
  t.test(`a race of instances has one winner for each id, under ${isolation}`, async (t) => {
    const url = await testDatabase(t)
    await query(
      url,
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_isolation = '${isolation}'`,
    )
    const stores = await Promise.all([1, 2, 3, 4].map(() => open(t, url)))
    const outcomes = await raceCreates(stores, 3_001)
    for (const each of outcomes.values()) each.sort()
    t.same(new Set([...outcomes.values()].map(String)), new Set(['conflict,conflict,conflict,created']))
    t.same(await query(url, 'SELECT count(*)::int AS count FROM plants'), [{ count: 3_001 }])
  })
}

t.test('a write waits for another transaction with the same id', async (t) => {
  const url = await testDatabase(t)
  const store = await open(t, url)
  const other = new pg.Client(url)
  await other.connect()
  await other.query("BEGIN; INSERT INTO plants VALUES (1, 'other', NULL)")
  const outcomes = Promise.all([1n, 2n].map((id) => store.create({ id, name: 'a' })))
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
  await until(async () => (await query(url, waiting)).length > 0, 'the create to wait')
  await other.query('COMMIT')
  await other.end()
  t.same(await outcomes, ['conflict', 'created'])
})

t.test('a probe leaves no plant, and needs the right to delete', async (t) => {
  const url = await testDatabase(t)
  const role = `guest_${new URL(url).pathname.slice(1)}`
  await (await openPostgres(url, portable)).close()
  await query(url, `CREATE ROLE ${role} LOGIN; GRANT SELECT, INSERT, DELETE ON plants TO ${role}`)
  t.teardown(() => query(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`))
  const store = await open(t, url.replace('//postgres@', `//${role}@`))
  await store.ready()
  t.same(await query(url, 'SELECT id FROM plants'), [])
  await query(url, `REVOKE DELETE ON plants FROM ${role}`)
  await t.rejects(store.ready(), { name: 'Unavailable', message: /^permission denied for table plants$/ })
})

t.test("a constraint that rejects the probe's plant does not make the store unready", async (t) => {
  const url = await testDatabase(t)
  const store = await open(t, url)
  await query(url, "ALTER TABLE plants ADD CHECK (name NOT LIKE 'probe%')")
  await store.ready()
})

t.test('a table with other columns or without a primary key is reported', async (t) => {
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
    await t.rejects(openPostgres(url, portable), {
      message: exactly(`its table plants has the wrong schema: ${message}; ${expected}`),
    })
    await query(url, 'DROP TABLE plants')
  }
})

const plants = ['a', 'b', 'c', 'd'].map((name, id) => ({ id: BigInt(id), name, ...(id === 3 && { tag: '' }) }))
const row = (id: number, name: string, tag: string | null = null) => ({ id: String(id), name, tag })
const ids = (...given: number[]) => given.map((id) => ({ id: String(id) }))

/** Returns the result of `create` when its statements get these results in order: rows or an error. */
async function created(...answers: (object[] | Error)[]) {
  const query = async () => {
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer as never
  }
  const rows = await portableDialect.create(query, plants)
  return rows.map(({ id, created }) => [id, created])
}

t.test('RETURNING distinguishes a new plant from an identical one', async (t) => {
  const rows = [row(0, 'a'), row(1, 'other'), row(2, 'c'), row(3, 'd', '')]
  const outcomes = [['0', false], ['1', false], ['2', true], ['3', true]] // biome-ignore format: a table
  t.same(await created(ids(2, 3), rows), outcomes)
  t.same(await created(ids(), rows), outcomes.map(([id]) => [id, false])) // biome-ignore format: a table
})

t.test('an id in RETURNING is not the winner when the row holds another plant', async (t) => {
  const rows = [row(0, 'a'), row(1, 'b'), row(2, 'other'), row(3, 'd', null)]
  t.same(await created(ids(2, 3), rows), [['0', true], ['1', true], ['2', false], ['3', false]]) // biome-ignore format: a table
})

t.test('a plant whose row is not visible yet is asked for again', async (t) => {
  t.same(await created(ids(3), [row(3, 'd', '')]), [['3', true]])
})

t.test('a serialization failure of the SELECT does not turn a new plant into an identical one', async (t) => {
  const failed = Object.assign(new Error('restart transaction'), { code: '40001' })
  const rows = [row(0, 'x'), row(1, 'b'), row(2, 'c'), row(3, 'd', '')]
  t.same(await created(ids(1, 2, 3), failed, failed, failed, rows), [['0', false], ['1', true], ['2', true], ['3', true]]) // biome-ignore format: a table
})

const postgres = [
  'PostgreSQL 18.4 on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit',
  'PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit',
  'PostgreSQL 19beta1 on aarch64-apple-darwin, compiled by Apple clang version 16.0.0, 64-bit',
  'PostgreSQL 20devel on x86_64-linux, compiled by gcc-14.2.0, 64-bit',
  'PostgreSQL 16.1, compiled by Visual C++ build 1937, 64-bit',
]

const others = [
  'PostgreSQL 14.1',
  'PostgreSQL 16',
  'PostgreSQL 15.2-YB-2.25.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6, 64-bit',
  'CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu, built 2025/05/09 19:11:20, go1.23.7 X:nocoverageredesign)',
  '',
]

for (const [dialect, name, versions] of [
  [ownDialect, 'the own', postgres],
  [portableDialect, 'the portable', others],
] as const) {
  for (const version of versions) {
    t.test(`a server that says "${version}" gets ${name} dialect`, async (t) => {
      const query = async (text: string) => {
        t.equal(text, 'SELECT version()', 'PGAdapter supports only this spelling')
        return [{ version }] as never
      }
      t.equal(await chooseDialect(query), dialect)
    })
  }
}

t.test('a server without a version gets the portable dialect', async (t) => {
  t.equal(await chooseDialect(async () => []), portableDialect)
})
