import t from 'tap'
import { until } from '../../scripts/system/poll.ts'
import { watchStore } from '../../src/store/store-health.ts'
import { open, startServer, unavailable } from './postgres-stores.ts'

t.test('the store is not ready without the right to insert or after its table was replaced', async (t) => {
  const server = await startServer(t)
  await (await open(t, server.url())).close()
  await server.query('CREATE ROLE guest LOGIN')
  await server.query('GRANT SELECT, INSERT, UPDATE ON plants TO guest')
  const store = await open(t, server.url().replace('//postgres@', '//guest@'))
  await store.ready()
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  const faults: [string, string, RegExp][] = [
    ['REVOKE INSERT ON plants FROM guest', 'GRANT INSERT ON plants TO guest', /permission denied for table plants/],
    ['REVOKE UPDATE ON plants FROM guest', 'GRANT UPDATE ON plants TO guest', /permission denied for table plants/],
    ['ALTER TABLE plants RENAME name TO label', 'ALTER TABLE plants RENAME label TO name', /column "name"/],
    ['ALTER TABLE plants RENAME TO flowers', 'ALTER TABLE flowers RENAME TO plants', /relation "plants"/],
    [
      'ALTER TABLE plants ENABLE ROW LEVEL SECURITY',
      'ALTER TABLE plants DISABLE ROW LEVEL SECURITY',
      /row-level security/,
    ],
  ]
  for (const [fault, repair, reason] of faults) {
    await server.query(fault)
    await t.rejects(store.create({ id: 1n, name: 'a' }), { ...unavailable, message: reason }, fault)
    await t.rejects(store.ready(), { message: reason }, fault)
    await server.query(repair)
    await t.resolves(store.ready(), repair)
  }
  t.same(await server.query('SELECT id FROM plants'), [{ id: '1' }], 'probes leave no row')
})

t.test("a constraint that rejects the probe's plant does not make the store unready", async (t) => {
  const server = await startServer(t)
  const store = await open(t, server.url())
  await server.query("ALTER TABLE plants ADD CHECK (name <> 'probe')")
  await store.ready()
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
})

t.test('the store is not ready while the synchronous standby is away', async (t) => {
  const primary = await startServer(t)
  const standby = await primary.standby({ synchronous: true })
  t.teardown(() => standby.close())
  const store = await open(t, `${primary.url()}?query_timeout=1000`)
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

t.test('the service is unready before the first create that waits for a lost standby fails', async (t) => {
  const primary = await startServer(t)
  const standby = await primary.standby({ synchronous: true })
  t.teardown(() => standby.close())
  const health = watchStore(await open(t, primary.url()), () => {})
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
