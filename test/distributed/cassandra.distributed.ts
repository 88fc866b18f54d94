import { until } from 'fastify-contract-test-support/poll'
import t from 'tap'
import { openCassandra } from '../../src/store/cassandra/cassandra-store.ts'
import { conformance } from '../../src/store/conformance.ts'
import { migrateStore, openStore } from '../../src/store/open.ts'
import { type PlantStore, Unavailable } from '../../src/store/plant-store.ts'
import { raceCreates } from '../store/create-race.ts'
import { type CassandraCluster, cassandraClasspath, startCassandra } from './cassandra-cluster.ts'

const programs = cassandraClasspath()
const skip = typeof programs === 'string' && `NOT RUN: ${programs}`

/** A busy machine needs more than the default timeouts of the server and of the URL. */
const slow = {
  write_request_timeout: '30s',
  read_request_timeout: '30s',
  cas_contention_timeout: '30s',
  native_transport_timeout: '60s',
}
const patience = 'query_timeout=60000&connect_timeout=30'

/** Returns a store whose writes are repeated while it is unavailable, as a client does. */
const withRetries = (store: PlantStore): PlantStore => ({
  ...store,
  async create(plant) {
    for (;;) {
      try {
        return await store.create(plant)
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
      }
    }
  },
})

t.test('three nodes of Cassandra', { skip, timeout: 3_600_000 }, async (t) => {
  const { classpath } = programs as Exclude<typeof programs, string>
  const cluster: CassandraCluster = await startCassandra(classpath, { settings: slow })
  t.teardown(() => cluster.close())
  let keyspaces = 0
  const empty = async (replicationFactor = 3, parameters = patience) => {
    const url = cluster.url(`plants_${++keyspaces}`, parameters)
    await migrateStore(url, replicationFactor)
    return url
  }

  for (const [name, run] of Object.entries(conformance))
    t.test(`on a Cassandra cluster: ${name}`, async (t) => {
      const url = await empty()
      await t.resolves(run(() => openStore(url), true))
    })

  t.test('a plant is found by its id, exact, and plants are not listed', async (t) => {
    const store = await openCassandra(await empty())
    t.teardown(() => store.close())
    const plants = [
      { id: -(2n ** 63n), name: 'a' },
      { id: 2n ** 53n + 1n, name: '', tag: '' },
      { id: 2n ** 63n - 1n, name: 'ä', tag: 'b' },
    ]
    for (const plant of plants) await store.create(plant)
    for (const plant of plants) t.same(await store.get(plant.id), plant)
    t.equal(await store.get(2n ** 53n), undefined)
    await t.rejects(store.list(0n, 1), /cannot be listed/)
  })

  t.test('three racing stores have one winner per id', async (t) => {
    const url = await empty()
    const stores = await Promise.all([1, 2, 3].map(() => openStore(url)))
    t.teardown(() => Promise.all(stores.map((store) => store.close())))
    const outcomes = await raceCreates(stores.map(withRetries), 301)
    const winners = [...outcomes.values()].map((each) => each.filter((outcome) => outcome !== 'conflict').length)
    t.same(new Set(winners), new Set([1]))
  })

  t.test('a migration is repeatable, and a probe leaves no plant', async (t) => {
    const url = await empty()
    await migrateStore(url, 3)
    const store = await openCassandra(url)
    t.teardown(() => store.close())
    for (let probes = 0; probes < 3; probes++) await store.ready()
    await store.create({ id: 0n, name: 'a' })
    for (let probes = 0; probes < 20; probes++) await store.ready()
    t.same(await store.get(0n), { id: 0n, name: 'a' }, 'a probe does not remove a plant')
  })

  t.test('a replication factor below 3, a missing keyspace and a missing data center are rejected', async (t) => {
    await t.rejects(
      empty(2),
      /a replication factor of 2 can lose acknowledged plants; use 3, or set accept_data_loss=true/,
    )
    const url = await empty(1, `${patience}&accept_data_loss=true`)
    const store = await openStore(url)
    t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
    await store.close()
    await t.rejects(
      openStore(url.replace('&accept_data_loss=true', '')),
      /has a replication factor of 1; at least 3 is safe/,
    )
    await t.rejects(openStore(cluster.url('unknown', patience)), /does not exist; run plant-store migrate/)
    await t.rejects(openStore(cluster.url('unknown', patience).replace('datacenter1', 'mars')), /datacenter/)
  })

  t.test('a node that can lose plants stops writes', async (t) => {
    const url = await empty()
    const store = await openStore(url)
    t.teardown(() => store.close())
    cluster.configure({ commitlog_sync: 'periodic' })
    const [, , last] = cluster.nodes
    await last?.end('SIGTERM')
    await last?.start()
    await t.rejects(openStore(url), /has commitlog_sync: periodic, so it acknowledges before plants are on disk/)
    // An open store checks the node once its driver has reached it.
    const isRejected = () =>
      store.ready().then(
        () => false,
        ({ message }: Error) => message.includes('commitlog_sync: periodic'),
      )
    await until(isRejected, 'the check of the node', 300_000)
    await t.rejects(store.create({ id: 1n, name: 'a' }), /commitlog_sync: periodic/)
    cluster.configure({ commitlog_sync: 'batch', paxos_variant: 'v1' })
    await last?.end('SIGTERM')
    await last?.start()
    await t.rejects(openStore(url), /has paxos_variant: v1, so plants can be lost while nodes join or leave/)
    cluster.configure({ paxos_variant: 'v2' })
    await last?.end('SIGTERM')
    await last?.start()
    await store.ready()
    t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  })
})
