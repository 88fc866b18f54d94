import t from 'tap'
import { until } from '../../scripts/system/poll.ts'
import { createWithRetries, open, startServer, unavailable } from './postgres-stores.ts'

t.test('the store reconnects to a restarted server', async (t) => {
  const server = await startServer(t)
  const store = await open(t, server.url())
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

t.test('the store uses the primary of several servers, also after a failover', async (t) => {
  const primary = await startServer(t)
  const standby = await primary.standby({ synchronous: true })
  t.teardown(() => standby.close())
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

t.test('no plant is acknowledged while the synchronous standby is away', async (t) => {
  const primary = await startServer(t)
  const standby = await primary.standby({ synchronous: true })
  t.teardown(() => standby.close())
  const store = await open(t, `${primary.url()}?query_timeout=1000`)
  await standby.stop('immediate')

  const cancelled = store.create({ id: 1n, name: 'a' })
  const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  await until(async () => (await primary.query(waiting)).length > 0, 'a commit that waits for the standby')
  await Promise.all([
    t.rejects(cancelled, unavailable, 'a commit whose wait was cancelled'),
    primary.query(`SELECT pg_cancel_backend(pid) FROM (${waiting}) AS waiting`),
  ])
  t.same(await primary.query('SELECT id FROM plants'), [{ id: '1' }], 'the primary has it all the same')
  await t.rejects(store.create({ id: 1n, name: 'a' }), unavailable, 'what is there is not known to last')
  await standby.start()
  t.equal(await createWithRetries(store, { id: 1n, name: 'a' }), 'identical')
  t.same(await standby.query('SELECT id FROM plants'), [{ id: '1' }])
})

t.test('at most ten connections wait for a standby, and close does not wait for them', async (t) => {
  const primary = await startServer(t)
  const standby = await primary.standby({ synchronous: true })
  t.teardown(() => standby.close())
  const store = await open(t, `${primary.url()}?query_timeout=400&connect_timeout=1`)
  await standby.stop('immediate')
  for (let id = 0n; id < 15n; id++) await t.rejects(store.create({ id, name: 'a' }), unavailable)
  const [row] = await primary.query("SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
  t.equal(row?.count, 10)
  await t.rejects(store.ready(), unavailable)
  await store.close()
})
