import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { exactly } from 'fastify-contract-test-support/exact-pattern'
import { freePort } from 'fastify-contract-test-support/free-port'
import { until } from 'fastify-contract-test-support/poll'
import pg from 'pg'
import t, { type Test } from 'tap'
import { chownToServer, makeDirectory, unprivileged } from '../../scripts/postgres/postgres-programs.ts'
import { query, startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { conformance } from '../../src/store/conformance.ts'
import { openStore } from '../../src/store/open.ts'
import type { PlantStore } from '../../src/store/plant-store.ts'
import { chooseDialect, portableDialect, postgresDialect } from '../../src/store/postgres/postgres-dialects.ts'
import { openPostgres } from '../../src/store/postgres/postgres-store.ts'
import { raceCreates } from './create-race.ts'
import { createGuest } from './postgres-stores.ts'
import { querySuite } from './query-suite.ts'

const portable = async () => portableDialect

/** A store in a dialect, whose plants can be listed. */
type Opened = Awaited<ReturnType<typeof openPostgres>>

/** Functions that open a store, by the dialect that it uses. */
const dialects: Record<string, (url: string) => Promise<Opened>> = {
  "PostgreSQL's": (url) => openPostgres(url),
  'the portable': (url) => openPostgres(url, portable),
}

for (const [dialect, openIn] of Object.entries(dialects)) {
  for (const [name, run] of Object.entries(conformance))
    t.test(`in ${dialect} dialect: ${name}`, async (t) => {
      const url = await testDatabase(t)
      await t.resolves(run(() => openIn(url), true))
    })

  for (const [name, run] of Object.entries(querySuite))
    t.test(`in ${dialect} dialect: ${name}`, async (t) => {
      const store = await openIn(await testDatabase(t))
      await run(store)
      await store.close()
      await t.rejects(store.list(1n, 1), { message: /^the store is closed$/ })
    })

  for (const isolation of ['read committed', 'repeatable read', 'serializable'])
    t.test(`in ${dialect} dialect a race of instances has one winner for each id, under ${isolation}`, async (t) => {
      const url = await testDatabase(t)
      await query(
        url,
        `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_isolation = '${isolation}'`,
      )
      const stores = await instances(t, url, 4, openIn)
      const ids = 1_501
      const outcomes = await raceCreates(stores, ids)
      t.equal(outcomes.size, ids)
      for (const each of outcomes.values()) each.sort()
      t.same(new Set([...outcomes.values()].map(String)), new Set(['conflict,conflict,conflict,created']))
      t.same(await query(url, 'SELECT count(*)::int AS count FROM plants'), [{ count: ids }])
      await Promise.all(stores.map((store) => store.close()))
      if (dialect === "PostgreSQL's") t.equal(await deadlocks(url), 0)
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
async function instances(t: Test, url: string, count: number, openIn = openStore): Promise<PlantStore[]> {
  const stores = await Promise.all(Array.from({ length: count }, () => openIn(url)))
  t.teardown(() => Promise.all(stores.map((store) => store.close())))
  return stores
}

t.test('concurrent instances create the table once', async (t) => {
  const url = await testDatabase(t)
  for (let round = 0; round < 5; round++) {
    const stores = await instances(t, url, 8)
    t.equal(await stores[0]?.create({ id: 1n, name: 'a' }), 'created')
    t.equal(await stores[7]?.create({ id: 1n, name: 'a' }), 'identical')
    await Promise.all(stores.map((store) => store.close()))
    await query(url, 'DROP TABLE plants')
  }
})

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

async function open(t: Test, url: string) {
  const store = await openPostgres(url, portable)
  t.teardown(() => store.close())
  return store
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
  await (await openPostgres(url, portable)).close()
  const { guest, guestUrl } = await createGuest(t, url)
  await query(url, `GRANT SELECT, INSERT, DELETE ON plants TO ${guest}`)
  const store = await open(t, guestUrl)
  await store.ready()
  t.same(await query(url, 'SELECT id FROM plants'), [])
  await query(url, `REVOKE DELETE ON plants FROM ${guest}`)
  await t.rejects(store.ready(), { name: 'Unavailable', message: /^permission denied for table plants$/ })
})

t.test("a constraint that rejects the probe's plant does not make the store unready", async (t) => {
  const url = await testDatabase(t)
  const store = await open(t, url)
  await query(url, "ALTER TABLE plants ADD CHECK (name NOT LIKE 'probe%')")
  await store.ready()
})

for (const [dialect, openIn] of Object.entries(dialects))
  t.test(`a wrong table is reported without SQL in ${dialect} dialect`, async (t) => {
    const url = await testDatabase(t)
    const tables: [string, string][] = [
      ['id bigint PRIMARY KEY', 'column "name" of relation "plants" does not exist'],
      ['id text PRIMARY KEY, name text, tag text', 'operator does not exist: text = bigint'],
      [
        'id bigint PRIMARY KEY, name integer, tag text',
        'column "name" is of type integer but expression is of type text',
      ],
      [
        'id bigint PRIMARY KEY, name text, tag integer',
        'column "tag" is of type integer but expression is of type text',
      ],
      [
        'id bigint, name text, tag text',
        'there is no unique or exclusion constraint matching the ON CONFLICT specification',
      ],
    ]
    for (const [columns, message] of tables) {
      await query(url, `CREATE TABLE plants (${columns})`)
      const expected = 'expected id bigint PRIMARY KEY, name text NOT NULL, tag text'
      await t.rejects(openIn(url), {
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
  [postgresDialect, "PostgreSQL's", postgres],
  [portableDialect, 'the portable', others],
] as const)
  for (const version of versions)
    t.test(`a server that says "${version}" gets ${name} dialect`, async (t) => {
      const query = async (text: string) => {
        t.equal(text, 'SELECT version()', 'PGAdapter supports only this spelling')
        return [{ version }] as never
      }
      t.equal(await chooseDialect(query), dialect)
    })

t.test('a server without a version gets the portable dialect', async (t) => {
  t.equal(await chooseDialect(async () => []), portableDialect)
})

const installed = spawnSync('pgbouncer', ['--version']).status === 0

/** Starts PgBouncer in transaction mode and returns its port. It refuses to run as root, so it runs unprivileged. */
async function startBouncer(t: Test, upstream: number): Promise<number> {
  const port = await freePort()
  const directory = makeDirectory()
  const file = directory.data
  const settings = [
    `[databases]\n* = host=127.0.0.1 port=${upstream} user=postgres\n[pgbouncer]`,
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any`,
    'pool_mode = transaction\ndefault_pool_size = 2\nlogfile =\npidfile =\n',
  ]
  writeFileSync(file, settings.join('\n'))
  chownToServer(file)
  const bouncer = spawn('pgbouncer', [file], { ...unprivileged, stdio: 'ignore' })
  const exited = once(bouncer, 'exit')
  t.teardown(async () => {
    bouncer.kill('SIGKILL')
    await exited
    await directory.remove()
  })
  await until(async () => {
    if (bouncer.exitCode !== null) throw new Error(`PgBouncer exited with ${bouncer.exitCode}`)
    return await query(`postgres://postgres@127.0.0.1:${port}/postgres`, 'SELECT 1').then(
      () => true,
      () => false,
    )
  }, 'PgBouncer to accept connections')
  return port
}

t.test(
  'the store passes the conformance suite behind PgBouncer in transaction mode',
  { skip: !installed && 'NOT RUN: pgbouncer is not installed' },
  async (t) => {
    const server = await startPostgres()
    t.teardown(() => server.close())
    const port = await startBouncer(t, server.port)
    await t.rejects(openStore(`postgres://postgres@127.0.0.1:${port}/postgres`), /unsupported startup parameter/)
    const url = `postgres://postgres@127.0.0.1:${port}/postgres?statement_timeout=0`
    for (const [name, run] of Object.entries(conformance)) {
      await t.resolves(
        run(() => openStore(url), true),
        name,
      )
      await server.query('DROP TABLE plants')
    }
  },
)
