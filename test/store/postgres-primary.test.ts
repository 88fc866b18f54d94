import { until } from 'fastify-contract-test-support/poll'
import pg from 'pg'
import t from 'tap'
import { certificate } from '../../scripts/postgres/temporary-postgres.ts'
import { openStore } from '../../src/store/open.ts'
import { watchStore } from '../../src/store/store-health.ts'
import { createTcpProxy } from '../support/tcp-proxy.ts'
import { createWithRetries, open, startServer, unavailable } from './postgres-stores.ts'

// Most of the time of these tests is waiting for servers.
t.jobs = 4

t.test('a primary with a synchronous standby', async (t) => {
  const primary = await startServer(t)
  const standby = await primary.standby({ synchronous: true })
  t.teardown(() => standby.close())
  const url = primary.url()
  t.beforeEach(() => primary.query('DROP TABLE IF EXISTS plants'))

  t.test('no plant is acknowledged while the standby is away', async (t) => {
    const store = await open(t, `${url}?query_timeout=1000`)
    await standby.stop('immediate')

    const cancelled = store.create({ id: 1n, name: 'a' })
    const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    await until(async () => (await primary.query(waiting)).length > 0, 'a commit that waits for the standby')
    await Promise.all([
      t.rejects(cancelled, unavailable, 'a commit whose wait was canceled'),
      primary.query(`SELECT pg_cancel_backend(pid) FROM (${waiting}) AS waiting`),
    ])
    t.same(await primary.query('SELECT id FROM plants'), [{ id: '1' }], 'the primary has the row nevertheless')
    await t.rejects(
      store.create({ id: 1n, name: 'a' }),
      unavailable,
      'a row that may not be durable is not acknowledged',
    )
    await standby.start()
    t.equal(await createWithRetries(store, { id: 1n, name: 'a' }), 'identical')
    t.same(await standby.query('SELECT id FROM plants'), [{ id: '1' }])
  })

  t.test('the store is not ready while the standby is away', async (t) => {
    const store = await open(t, `${url}?query_timeout=1000`)
    await store.ready()
    await standby.stop('immediate')
    await t.rejects(store.ready(), unavailable)
    await standby.start()
    const isReady = () =>
      store.ready().then(
        () => true,
        () => false,
      )
    await until(isReady, 'the store is ready again')
    t.same(await standby.query('SELECT id FROM plants'), [])
  })

  t.test('the service is unready before the first write that waits for a lost standby fails', async (t) => {
    const health = watchStore(await open(t, url), () => {})
    t.teardown(() => health.close())
    await health.create({ id: 1n, name: 'a' })
    await health.known
    t.equal(health.reason(), undefined)
    await standby.stop('immediate')
    await t.rejects(health.create({ id: 2n, name: 'a' }), unavailable)
    t.equal(health.reason(), 'the server did not respond within query_timeout, 7000 ms')
    await standby.start()
    await until(async () => health.reason() === undefined, 'the service is ready again')
  })

  t.test('at most ten connections wait for a standby, and close does not wait for them', async (t) => {
    const store = await open(t, `${url}?query_timeout=400&connect_timeout=1`)
    await standby.stop('immediate')
    for (let id = 0n; id < 15n; id++) await t.rejects(store.create({ id, name: 'a' }), unavailable)
    const [row] = await primary.query("SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    t.equal(row?.count, 10)
    await t.rejects(store.ready(), unavailable)
    await store.close()
    await standby.start()
  })

  t.test('the store uses the primary of several servers, also after a failover', async (t) => {
    const hosts = [1, standby.port, primary.port].map((port) => `127.0.0.1:${port}`)
    const store = await open(t, `postgres://postgres@${hosts}/postgres`)
    t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
    await primary.stop('kill')
    await t.rejects(store.create({ id: 2n, name: 'b' }), unavailable)
    await standby.promote()
    t.match(await createWithRetries(store, { id: 2n, name: 'b' }), /^(created|identical)$/)
    t.equal(await store.create({ id: 1n, name: 'a' }), 'identical')
    t.same(await standby.query('SELECT id, name FROM plants ORDER BY id'), [
      { id: '1', name: 'a' },
      { id: '2', name: 'b' },
    ])
  })
})

t.test('a promoted server that can lose acknowledged plants is rejected', async (t) => {
  const primary = await startServer(t)
  const standby = await primary.standby({ synchronous: true })
  t.teardown(() => standby.close())
  const store = await open(t, `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`)
  await standby.query("ALTER SYSTEM SET synchronous_commit = 'off'")
  await standby.query('SELECT pg_reload_conf()')
  await primary.stop('kill')
  await standby.promote()
  const reason = /its synchronous_commit is off, so it can lose acknowledged plants/
  for (let attempt = 0; attempt < 3; attempt++) await store.create({ id: 1n, name: 'a' }).catch(() => {})
  await t.rejects(store.create({ id: 1n, name: 'a' }), { ...unavailable, message: reason })
})

// Runs alone: its tests change this process' clock and the server's settings, and count sockets.
t.test('one server', { buffered: false }, async (t) => {
  const server = await startServer(t, { tls: true })
  const url = server.url()
  t.beforeEach(() => server.query('DROP TABLE IF EXISTS plants; ALTER DATABASE postgres RESET ALL'))
  /** Changes a setting of the server; resolves when new sessions have it. */
  const set = async (name: string, value: string) => {
    await server.query(`ALTER SYSTEM SET ${name} = ${value}`)
    await server.query('SELECT pg_reload_conf()')
    await until(async () => (await server.query(`SHOW ${name}`))[0]?.[name] === value, `${name} = ${value}`)
  }

  t.test('a start logs no server error', async (t) => {
    await open(t, url)
    const begin = server.log.length
    await open(t, url)
    t.equal(server.log.slice(begin), '')
  })

  t.test('a server that can lose acknowledged plants is rejected unless accept_data_loss is set', async (t) => {
    await set('fsync', 'off')
    const rejection =
      /^no server can be used: its fsync is off, so it can lose acknowledged plants; change it, or set accept_data_loss=true$/
    await t.rejects(openStore(url), { message: rejection })
    const store = await openStore(`${url}?accept_data_loss=true`)
    t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
    await store.close()
    await set('fsync', 'on')
  })

  t.test('a session that began while the database was read-only is not used again', async (t) => {
    const store = await open(t, url)
    const set = (setting: string) => server.query(`BEGIN READ WRITE; ALTER DATABASE postgres ${setting}; COMMIT`)
    const endSessions =
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL'
    for (const [id, name, value, reason] of [
      [1n, 'default_transaction_read_only', 'on', /it is read-only/],
      [2n, 'synchronous_commit', 'off', /its synchronous_commit is off, so it can lose acknowledged plants/],
    ] as const) {
      t.equal(await createWithRetries(store, { id, name }), 'created')
      await set(`SET ${name} = ${value}`)
      await server.query(endSessions)
      // The first query may still meet a closed session.
      for (let attempt = 0; attempt < 3; attempt++) await store.create({ id: id + 10n, name }).catch(() => {})
      await t.rejects(store.create({ id: id + 10n, name }), { ...unavailable, message: reason })
      await set(`RESET ${name}`)
      t.match(await createWithRetries(store, { id: id + 20n, name }), /^(created|identical)$/)
    }
  })

  t.test('a session that the pool opens later is checked, too', async (t) => {
    const store = await open(t, url)
    t.equal(await store.create({ id: 0n, name: 'a' }), 'created')
    await server.query('ALTER DATABASE postgres SET synchronous_commit = off')
    const blocker = 'BEGIN; LOCK TABLE plants IN EXCLUSIVE MODE; SELECT pg_sleep(1); COMMIT'
    const blocked = server.query(blocker)
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    await until(async () => (await server.query(waiting)).length > 0, 'a locked table')
    // The second batch needs a second session.
    const first = store.create({ id: 1n, name: 'a' })
    await new Promise((done) => setTimeout(done, 100))
    const second = store.create({ id: 2n, name: 'a' })
    await t.rejects(second, { ...unavailable, message: /its synchronous_commit is off/ })
    t.equal(await first, 'created')
    await blocked
  })

  t.test('a server setting that changes in open sessions is found by the next check', async (t) => {
    const now = performance.now.bind(performance)
    let later = 0
    t.intercept(performance, 'now', { value: () => now() + later })
    for (const [id, name] of ['synchronous_commit', 'fsync'].entries())
      for (const probed of [true, false]) {
        const store = await open(t, url)
        const ask = async () => {
          await (probed ? store.ready() : store.create({ id: BigInt(id), name: 'a' }))
        }
        await store.create({ id: BigInt(id), name: 'a' })
        await set(name, 'off')
        later += 5_000
        const message = new RegExp(`its ${name} is off, so it can lose acknowledged plants`)
        await t.rejects(ask(), { ...unavailable, message }, `${name}, ${probed}`)
        await t.rejects(store.create({ id: BigInt(id), name: 'a' }), { ...unavailable, message }, name)
        await set(name, 'on')
        t.equal(await createWithRetries(store, { id: BigInt(id), name: 'a' }), 'identical')
        await store.ready()
      }
  })

  t.test('close does not wait for a connection attempt', async (t) => {
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

  t.test('statement_timeout and query_timeout limit a write', async (t) => {
    const proxy = await createTcpProxy(t, server.port)
    const proxied = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`
    const store = await open(t, `${proxied}?statement_timeout=200&query_timeout=1000&connect_timeout=1`)

    const other = new pg.Client(url)
    await other.connect()
    await other.query("BEGIN; INSERT INTO plants VALUES (1, 'a')")
    await t.rejects(store.create({ id: 1n, name: 'b' }), { ...unavailable, message: /statement timeout/ })
    await other.query('ROLLBACK')
    await other.end()
    t.equal(await createWithRetries(store, { id: 1n, name: 'b' }), 'created')

    proxy.loseAnswers(true)
    await t.rejects(store.create({ id: 2n, name: 'c' }), unavailable)
    proxy.loseAnswers(false)
    t.equal(
      await createWithRetries(store, { id: 2n, name: 'c' }),
      'identical',
      'the plant was stored, only the response was lost',
    )

    proxy.breakAll()
    t.equal(await createWithRetries(store, { id: 3n, name: 'd' }), 'created')
  })

  t.test('sslmode and sslrootcert control TLS', async (t) => {
    const encrypted = async (parameters: string) => {
      const store = await open(t, `${url}?application_name=under-test&${parameters}`)
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

  t.test('the store reconnects to a restarted server', async (t) => {
    const store = await open(t, url)
    t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
    for (const mode of ['fast', 'immediate', 'kill'] as const) {
      await server.stop(mode)
      await t.rejects(store.create({ id: 2n, name: mode }), unavailable)
      await t.rejects(store.ready())
      await server.start()
      t.equal(await createWithRetries(store, { id: 1n, name: 'a' }), 'identical')
      await store.ready()
    }
  })
})
