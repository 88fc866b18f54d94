import { setTimeout as sleep } from 'node:timers/promises'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { openCassandra } from '../../src/store/cassandra/cassandra-store.ts'
import { migrateStore } from '../../src/store/open.ts'
import { type CassandraCluster, cassandraClasspath, startCassandra } from './cassandra-cluster.ts'
import { type LoopDisk, mountLoopDisk } from './loop-disk.ts'

const programs = cassandraClasspath()
const disk = typeof programs === 'string' ? undefined : mountLoopDisk()
const skip =
  typeof programs === 'string' ? `NOT RUN: ${programs}` : disk === undefined && 'NOT RUN: needs root on Linux'

/** Milliseconds until plants must be acknowledged or readable, on a busy machine. */
const patience = 600_000

/** The number of plants that are acknowledged before the power is lost. */
const acknowledgedBefore = 500

t.test('three nodes of Cassandra lose power at once', { skip, timeout: 3_600_000 }, async (t) => {
  t.teardown(() => disk?.close())
  const { classpath } = programs as Exclude<typeof programs, string>
  const cluster = await startCassandra(classpath, { parent: (disk as LoopDisk).directory })
  t.teardown(() => cluster.close())

  for (const sync of ['batch', 'group', 'periodic'])
    t.test(`commitlog_sync: ${sync}`, async (t) => {
      const { acknowledged, lost } = await losePower(t, cluster, disk as LoopDisk, sync)
      t.comment(`${lost} of ${acknowledged} acknowledged plants are lost`)
      if (sync === 'periodic') t.ok(lost > 0, 'the control loses plants')
      else t.equal(lost, 0)
    })
})

/** Creates plants until all nodes lose power, starts them again, and counts the plants that are lost. */
async function losePower(t: Test, cluster: CassandraCluster, disk: LoopDisk, sync: string) {
  cluster.configure({ commitlog_sync: sync })
  await Promise.all(cluster.nodes.map((node) => node.end('SIGTERM')))
  await startAll(cluster)
  const url = cluster.url(
    `plants_${sync}`,
    `query_timeout=2500&connect_timeout=2&accept_data_loss=${sync === 'periodic'}`,
  )
  await until(() => migrateStore(url, 3).then(Boolean, () => false), 'a migration', patience)
  // The schema is on the disk, so that only plants can be lost.
  disk.sync()
  const store = await openCassandra(url)
  const acknowledged: bigint[] = []
  let next = 0n
  let isOver = false
  const create = async () => {
    while (!isOver) {
      const id = next++
      await store.create({ id, name: 'a' }).then(
        () => acknowledged.push(id),
        () => sleep(10),
      )
    }
  }
  const creating = Array.from({ length: 32 }, create)
  await until(() => acknowledged.length >= acknowledgedBefore, 'acknowledged plants', patience)
  await Promise.all(cluster.nodes.map((node) => node.end('SIGKILL')))
  isOver = true
  await Promise.all(creating)
  await store.close()
  t.comment(`${disk.losePower()} KiB had not reached the disk`)
  await startAll(cluster)
  return { acknowledged: acknowledged.length, lost: await countMissing(url, acknowledged) }
}

/** Starts all nodes: the first one alone, because the others ask it for the state of the cluster. */
async function startAll({ nodes: [first, ...others] }: CassandraCluster): Promise<void> {
  await first?.start()
  await Promise.all(others.map((node) => node.start()))
}

async function countMissing(url: string, ids: bigint[]): Promise<number> {
  const store = await openCassandra(url)
  const left = [...ids]
  let missing = 0
  const read = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const current = id
      const [plant] = await until(
        () =>
          store
            .get(current)
            .then((plant) => [plant])
            .catch(() => undefined),
        'a read',
        patience,
      )
      if (plant === undefined) missing++
    }
  }
  await Promise.all(Array.from({ length: 16 }, read))
  await store.close()
  return missing
}
