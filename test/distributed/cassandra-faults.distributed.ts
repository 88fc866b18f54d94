import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../../scripts/system/poll.ts'
import { openCassandra } from '../../src/store/cassandra/cassandra-store.ts'
import { migrateStore } from '../../src/store/open.ts'
import { contentOf } from '../faults/histories/contended-creates.ts'
import { countViolations, isContended, isRaced, unexplainedText } from '../faults/histories/history-figures.ts'
import type { History } from '../faults/histories/plant-history.ts'
import { type RecordedLoad, startRecordedLoad } from '../faults/histories/recorded-load.ts'
import { randomOf } from '../faults/seeded-random.ts'
import { startService } from '../scenarios/built-service.ts'
import { build } from '../scenarios/run-build.ts'
import { type CassandraCluster, type CassandraNode, cassandraClasspath, startCassandra } from './cassandra-cluster.ts'

/** The number of writes with an outcome, and the seed of the load. */
const operations = Number(process.env.CASSANDRA_OPERATIONS ?? 3_000)
const seed = Number(process.env.CASSANDRA_SEED ?? 1 + (Date.now() % 1_000_000))

const faketime = [
  process.env.FAKETIME_LIBRARY ?? '',
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
].find((path) => existsSync(path))

const programs = cassandraClasspath()
const skip = typeof programs === 'string' && `NOT RUN: ${programs}`

/** Parameters of the URL, below the timeout of a client. */
const impatient = 'query_timeout=2500&connect_timeout=2'

/** Milliseconds until a fault must be over, on a busy machine. */
const patience = 600_000

t.test('faults of three nodes of Cassandra', { skip, timeout: 7_200_000 }, async (t) => {
  await build()
  t.comment(`seed ${seed}`)
  const { classpath } = programs as Exclude<typeof programs, string>
  const cluster = await startCassandra(classpath)
  t.teardown(() => cluster.close())
  let keyspaces = 0
  const empty = async (parameters = impatient) => {
    const url = cluster.url(`plants_${++keyspaces}`, parameters)
    await until(
      () =>
        migrateStore(url, 3).then(
          () => true,
          () => false,
        ),
      'a migration',
      patience,
    )
    return url
  }

  t.test('the histories of all ids are linearizable under faults', async (t) => {
    const { histories, load } = await record(t, await empty(), operations, faultsOf(t, cluster))
    const all = [...histories.values()]
    t.comment(`answers: ${JSON.stringify(Object.fromEntries(load.answers))}`)
    t.comment(`ids ${all.length}, contended ${all.filter(isContended).length}, raced ${all.filter(isRaced).length}`)
    t.ok(load.answered() >= operations, `${load.answered()} creates have an outcome`)
    t.equal(load.wrong(), 0, 'wrong answers')
    t.ok(all.filter(isRaced).length > 0, 'creates of one id overlap')
    t.equal(countViolations(histories).all, 0, unexplainedText(histories).slice(0, 2_000))
  })

  for (const control of ['faults/histories/early', 'faults/histories/unguarded', 'distributed/cassandra-overwriting']) {
    t.test(`the check finds ${control}-store.js`, async (t) => {
      const prefix = `module:./test/${control}-store.js?`
      const faults = control.includes('early') ? { 'two nodes killed': twoKilled(t, cluster, false) } : {}
      const { histories } = await record(t, await empty(), Math.min(operations, 1_500), faults, prefix)
      const { all, counts } = countViolations(histories)
      t.comment(`${all} ids unexplained: ${JSON.stringify(Object.fromEntries(counts))}`)
      t.ok(all > 0)
    })
  }

  t.test('after SIGKILL of all nodes, only commitlog_sync: batch has kept every plant', async (t) => {
    for (const sync of ['batch', 'periodic']) {
      const lost: number[] = []
      cluster.configure({ commitlog_sync: sync })
      await Promise.all(cluster.nodes.map((node) => node.end('SIGTERM')))
      await startAll(cluster)
      const url = await empty(`${impatient}&accept_data_loss=true`)
      // With periodic, the time of the kill decides whether a plant is lost.
      for (let round = 0; round < 3 && (sync === 'batch' || !lost.some((plants) => plants > 0)); round++) {
        lost.push(await lostByKill(cluster, url, round))
      }
      t.comment(`${sync}: ${lost} plants lost`)
      if (sync === 'batch') t.same(new Set(lost), new Set([0]))
      else t.ok(lost.some((plants) => plants > 0))
    }
  })
})

type Faults = Record<string, (load: RecordedLoad) => Promise<void>>

const kept = (load: RecordedLoad) => load.answered()

/** Resolves once writes get an outcome again. */
async function untilAnswered(load: RecordedLoad): Promise<void> {
  const before = kept(load)
  await until(() => kept(load) > before + 20, 'creates with an outcome', patience)
}

/** Returns the faults of nodes. Each is over when it resolves. */
function faultsOf(t: Test, cluster: CassandraCluster): Faults {
  const [first, second, third] = cluster.nodes as [CassandraNode, CassandraNode, CassandraNode]
  /** Keeps a node away while the others go on, and reports the longest time without an outcome. */
  const oneAway = (name: string, away: () => unknown, back: () => unknown) => async (load: RecordedLoad) => {
    const gap = longestGap(load)
    await away()
    await sleep(10_000)
    await untilAnswered(load)
    t.comment(`${name}: ${gap()} ms without an outcome at most`)
    await back()
    await untilAnswered(load)
  }
  return {
    'one node killed': oneAway(
      'one node killed',
      () => third.end('SIGKILL'),
      () => third.start(),
    ),
    'two nodes killed': twoKilled(t, cluster, true),
    'one node frozen': oneAway(
      'one node frozen',
      () => second.signal('SIGSTOP'),
      () => second.signal('SIGCONT'),
    ),
    'rolling restart': async (load) => {
      const gap = longestGap(load)
      for (const node of [first, second, third]) {
        await node.end('SIGTERM')
        await node.start()
        await untilAnswered(load)
      }
      t.comment(`rolling restart: ${gap()} ms without an outcome at most`)
    },
    ...(faketime !== undefined && {
      'clock of one node skewed': async (load) => {
        for (const offset of ['+1h', '-1h']) {
          const environment = { LD_PRELOAD: faketime, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
          await third.end('SIGTERM')
          await third.start(environment)
          await untilAnswered(load)
          await sleep(5_000)
        }
        await third.end('SIGTERM')
        await third.start()
        await untilAnswered(load)
      },
    }),
  }
}

/** Kills two of three nodes: then no create may get an outcome. Starts them again. */
function twoKilled(t: Test, { nodes }: CassandraCluster, mustRefuse: boolean) {
  return async (load: RecordedLoad) => {
    await Promise.all(nodes.slice(1).map((node) => node.end('SIGKILL')))
    await sleep(3_000)
    const [answered, refused] = [kept(load), load.answers.get(503) ?? 0]
    await sleep(8_000)
    if (mustRefuse) {
      t.equal(kept(load), answered, 'no create has an outcome without a quorum')
      t.ok((load.answers.get(503) ?? 0) > refused, 'creates get 503 without a quorum')
    }
    for (const node of nodes.slice(1)) await node.start()
    await untilAnswered(load)
  }
}

/** Starts to measure; the returned function returns the longest time (ms) without a new outcome so far. */
function longestGap(load: RecordedLoad): () => number {
  let [seen, since, longest] = [kept(load), performance.now(), 0]
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - since)
    if (kept(load) !== seen) [seen, since] = [kept(load), now]
  }, 20)
  return () => {
    clearInterval(timer)
    return Math.round(longest)
  }
}

/** Records the history of each id until `count` writes have an outcome and each fault has happened once. */
async function record(t: Test, url: string, count: number, faults: Faults, prefix = '') {
  const services = await Promise.all([1, 2, 3].map(() => startService(prefix + url)))
  const load = startRecordedLoad(
    services.map(({ port }) => port),
    randomOf(seed),
  )
  await untilAnswered(load)
  for (const [name, suffer] of Object.entries(faults)) {
    const before = kept(load)
    await suffer(load)
    t.comment(`${name}: over, ${kept(load) - before} creates had an outcome meanwhile`)
  }
  await until(
    () => kept(load) >= count,
    () => `${count} outcomes, of which ${kept(load)} are there`,
    3_600_000,
  )
  await load.stop()
  const ends = await Promise.all(services.map((service) => service.stop()))
  // A defective store may fail to close.
  if (prefix === '') for (const { code } of ends) t.equal(code, 0, 'exit code')

  const histories = new Map<bigint, History>(load.histories)
  // A defective store acknowledges so many writes that a sample has to do.
  const step = prefix === '' ? 1 : Math.ceil(histories.size / 2_000)
  const stored = await storedPlants(
    url,
    [...histories.keys()].filter((_, index) => index % step === 0),
  )
  for (const [id, read] of stored) histories.get(id)?.push(read)
  return { histories, load }
}

/** Reads the plants of ids, all nodes being up. */
async function storedPlants(url: string, ids: Iterable<bigint>): Promise<Map<bigint, History[number]>> {
  const store = await openCassandra(url)
  const reads = new Map<bigint, History[number]>()
  const left = [...ids]
  const read = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const current = id
      const start = performance.now()
      const plant = await until(
        () =>
          store.get(current).then(
            (plant) => [plant],
            () => undefined,
          ),
        'a read',
        patience,
      )
      const content = plant[0] && contentOf(plant[0])
      reads.set(id, { outcome: 'read', content, start, end: performance.now() })
    }
  }
  await Promise.all(Array.from({ length: 16 }, read))
  await store.close()
  return reads
}

/** Starts all nodes: the first one alone, because the others ask it for the state of the cluster. */
async function startAll({ nodes: [first, ...others] }: CassandraCluster): Promise<void> {
  await first?.start()
  await Promise.all(others.map((node) => node.start()))
}

/** Creates plants, kills all nodes at once, and returns how many of the acknowledged plants are lost. */
async function lostByKill(cluster: CassandraCluster, url: string, round: number): Promise<number> {
  const store = await openCassandra(url)
  const acknowledged: bigint[] = []
  let next = BigInt(round) * 1_000_000n
  let stopped = false
  const create = async () => {
    while (!stopped) {
      const id = next++
      await store.create({ id, name: 'a' }).then(
        () => acknowledged.push(id),
        () => sleep(10),
      )
    }
  }
  const creating = Array.from({ length: 32 }, create)
  await until(() => acknowledged.length > 500, 'acknowledged plants', patience)
  await Promise.all(cluster.nodes.map((node) => node.end('SIGKILL')))
  stopped = true
  await Promise.all(creating)
  await store.close()
  await startAll(cluster)
  const stored = await storedPlants(url, acknowledged)
  return [...stored.values()].filter(({ content }) => content === undefined).length
}
