import pg from 'pg'
import t, { type Test } from 'tap'
import {
  certificate,
  type Postgres,
  type PostgresOptions,
  startPostgres,
} from '../../scripts/postgres/temporary-postgres.ts'
import { waitUntil } from '../../scripts/system/wait-until.ts'
import { openStore } from '../../src/store/open.ts'
import type { CreateOutcome, NewPlant, PlantStore } from '../../src/store/plant-store.ts'
import { createProxy } from '../support/proxy.ts'

const unavailable = { name: 'Unavailable', retryAfter: 1 }

async function start(t: Test, options: PostgresOptions = {}): Promise<Postgres> {
  const server = await startPostgres(options)
  t.teardown(() => server.close())
  return server
}

async function open(t: Test, url: string): Promise<PlantStore> {
  const store = await openStore(url)
  t.teardown(() => store.close())
  return store
}

/** Creates a plant as a client does that retries after a 503; returns the first outcome. */
async function persist(store: PlantStore, plant: NewPlant): Promise<CreateOutcome> {
  let outcome: CreateOutcome | undefined
  await waitUntil(`plant ${plant.id} to be created`, async () => {
    outcome = await store.create(plant).catch(() => undefined)
    return outcome !== undefined
  })
  return outcome as CreateOutcome
}

t.test('a server that was away is found again', async (t) => {
  const server = await start(t)
  const store = await open(t, server.url())
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  for (const mode of ['fast', 'immediate', 'kill'] as const) {
    await server.stop(mode)
    await t.rejects(store.create({ id: 2n, name: mode }), unavailable)
    await t.rejects(store.ready())
    await server.start()
    t.equal(await persist(store, { id: 1n, name: 'a' }), 'identical')
    await store.ready()
  }
})

t.test('of several servers the primary is used, whichever it is', async (t) => {
  const primary = await start(t)
  const standby = await primary.standby({ synchronous: true })
  t.teardown(() => standby.close())
  const hosts = [1, standby.port, primary.port].map((port) => `127.0.0.1:${port}`)
  const store = await open(t, `postgres://postgres@${hosts}/postgres`)
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  await primary.stop('kill')
  await t.rejects(store.create({ id: 2n, name: 'b' }), unavailable)
  await standby.promote()
  t.match(await persist(store, { id: 2n, name: 'b' }), /^(created|identical)$/)
  t.equal(await store.create({ id: 1n, name: 'a' }), 'identical')
  t.same(await standby.query('SELECT id, name FROM plants ORDER BY id'), [
    { id: '1', name: 'a' },
    { id: '2', name: 'b' },
  ])
})

t.test('a server that can lose what it acknowledges is not used after a failover either', async (t) => {
  const primary = await start(t)
  const standby = await primary.standby({ synchronous: true })
  t.teardown(() => standby.close())
  const store = await open(t, `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`)
  await standby.query("ALTER SYSTEM SET synchronous_commit = 'off'")
  await standby.query('SELECT pg_reload_conf()')
  await primary.stop('kill')
  await standby.promote()
  const reason = /its synchronous_commit is off, so it can lose what it acknowledged/
  for (let attempt = 0; attempt < 3; attempt++) await store.create({ id: 1n, name: 'a' }).catch(() => {})
  await t.rejects(store.create({ id: 1n, name: 'a' }), { ...unavailable, message: reason })
})

t.test('a connection that is made while the store closes does not keep it', async (t) => {
  const server = await start(t)
  const proxy = await createProxy(t, server.port)
  const store = await openStore(`postgres://postgres@127.0.0.1:${proxy.port}/postgres?query_timeout=200`)
  const connected = () => process.getActiveResourcesInfo().includes('TCPSocketWrap')
  t.ok(connected())
  proxy.breakAll()
  await waitUntil('the pool to drop its connection', () => !connected())
  proxy.delay(300)
  const ready = store.ready()
  const closing = store.close()
  await t.rejects(ready)
  await closing
})

t.test('nothing is acknowledged while the synchronous standby is away', async (t) => {
  const primary = await start(t)
  const standby = await primary.standby({ synchronous: true })
  t.teardown(() => standby.close())
  const store = await open(t, `${primary.url()}?query_timeout=1000`)
  await standby.stop('immediate')

  const cancelled = store.create({ id: 1n, name: 'a' })
  const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  await waitUntil('a commit that waits for the standby', async () => (await primary.query(waiting)).length > 0)
  await Promise.all([
    t.rejects(cancelled, unavailable, 'a commit whose wait was cancelled'),
    primary.query(`SELECT pg_cancel_backend(pid) FROM (${waiting}) AS waiting`),
  ])
  t.same(await primary.query('SELECT id FROM plants'), [{ id: '1' }], 'the primary has it all the same')
  await t.rejects(store.create({ id: 1n, name: 'a' }), unavailable, 'what is there is not known to last')
  await standby.start()
  t.equal(await persist(store, { id: 1n, name: 'a' }), 'identical')
  t.same(await standby.query('SELECT id FROM plants'), [{ id: '1' }])
})

t.test('a server that makes all wait keeps connections for others, and a close does not wait for it', async (t) => {
  const primary = await start(t)
  const standby = await primary.standby({ synchronous: true })
  t.teardown(() => standby.close())
  const store = await open(t, `${primary.url()}?query_timeout=50&connect_timeout=1`)
  await standby.stop('immediate')
  for (let id = 0n; id < 15n; id++) await t.rejects(store.create({ id, name: 'a' }), unavailable)
  const [row] = await primary.query("SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
  t.equal(row?.count, 10)
  await t.rejects(store.ready(), unavailable)
  await store.close()
})

t.test('a statement has its time, and so has an answer', async (t) => {
  const server = await start(t)
  const proxy = await createProxy(t, server.port)
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`
  const store = await open(t, `${url}?statement_timeout=200&query_timeout=1000&connect_timeout=1`)

  const other = new pg.Client(server.url())
  await other.connect()
  await other.query("BEGIN; INSERT INTO plants VALUES (1, 'a')")
  await t.rejects(store.create({ id: 1n, name: 'b' }), { ...unavailable, message: /statement timeout/ })
  await other.query('ROLLBACK')
  await other.end()
  t.equal(await persist(store, { id: 1n, name: 'b' }), 'created')

  proxy.loseAnswers(true)
  await t.rejects(store.create({ id: 2n, name: 'c' }), unavailable)
  proxy.loseAnswers(false)
  t.equal(await persist(store, { id: 2n, name: 'c' }), 'identical', 'only the answer was lost')

  proxy.breakAll()
  t.equal(await persist(store, { id: 3n, name: 'd' }), 'created')
})

t.test('TLS is what the URL says', async (t) => {
  const server = await start(t, { tls: true })
  const encrypted = async (parameters: string) => {
    const store = await open(t, `${server.url()}?application_name=under-test&${parameters}`)
    await store.ready()
    const [row] = await server.query(
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'under-test'",
    )
    await store.close()
    return row?.ssl
  }
  t.equal(await encrypted(''), false)
  t.equal(await encrypted('sslmode=disable'), false)
  t.equal(await encrypted('sslmode=require'), true)
  const root = `sslrootcert=${encodeURIComponent(certificate)}`
  t.equal(await encrypted(`sslmode=verify-full&${root}`), true)
  t.equal(await encrypted(`sslmode=verify-ca&${root}`), true)
  await t.rejects(encrypted('sslmode=verify-full'), /self-signed certificate/)
  await t.rejects(encrypted('sslmode=verify-full&sslrootcert=missing.pem'), /ENOENT.*missing\.pem/)
})
