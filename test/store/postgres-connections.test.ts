import pg from 'pg'
import t from 'tap'
import { certificate } from '../../scripts/postgres/temporary-postgres.ts'
import { until } from '../../scripts/system/poll.ts'
import { openStore } from '../../src/store/open.ts'
import { createTcpProxy } from '../support/tcp-proxy.ts'
import { createWithRetries, open, startServer, unavailable } from './postgres-stores.ts'

t.test('close does not wait for a connection attempt', async (t) => {
  const server = await startServer(t)
  const proxy = await createTcpProxy(t, server.port)
  const store = await openStore(`postgres://postgres@127.0.0.1:${proxy.port}/postgres?query_timeout=200`)
  const connected = () => process.getActiveResourcesInfo().includes('TCPSocketWrap')
  t.ok(connected())
  proxy.breakAll()
  await until(() => !connected(), 'the pool to drop its connection')
  proxy.delay(300)
  const ready = store.ready()
  const closing = store.close()
  await t.rejects(ready)
  await closing
})

t.test('statement_timeout and query_timeout limit a create', async (t) => {
  const server = await startServer(t)
  const proxy = await createTcpProxy(t, server.port)
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`
  const store = await open(t, `${url}?statement_timeout=200&query_timeout=1000&connect_timeout=1`)

  const other = new pg.Client(server.url())
  await other.connect()
  await other.query("BEGIN; INSERT INTO plants VALUES (1, 'a')")
  await t.rejects(store.create({ id: 1n, name: 'b' }), { ...unavailable, message: /statement timeout/ })
  await other.query('ROLLBACK')
  await other.end()
  t.equal(await createWithRetries(store, { id: 1n, name: 'b' }), 'created')

  proxy.loseAnswers(true)
  await t.rejects(store.create({ id: 2n, name: 'c' }), unavailable)
  proxy.loseAnswers(false)
  t.equal(await createWithRetries(store, { id: 2n, name: 'c' }), 'identical', 'only the answer was lost')

  proxy.breakAll()
  t.equal(await createWithRetries(store, { id: 3n, name: 'd' }), 'created')
})

t.test('sslmode and sslrootcert control TLS', async (t) => {
  const server = await startServer(t, { tls: true })
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
