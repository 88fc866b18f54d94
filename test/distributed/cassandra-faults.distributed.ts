import { existsSync } from 'node:fs'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { openCassandra } from '../../src/store/cassandra/cassandra-store.ts'
import { migrateStore } from '../../src/store/open.ts'
import { contentOf } from '../faults/histories/contended-creates.ts'
import { countViolations, isContended, isRaced, unexplainedText } from '../faults/histories/history-figures.ts'
import type { History } from '../faults/histories/plant-history.ts'
import { type RecordedLoad, startRecordedLoad } from '../faults/histories/recorded-load.ts'
import { requestPlant } from '../faults/plant-request.ts'
import { randomOf } from '../faults/seeded-random.ts'
import { type Service, startService } from '../scenarios/built-service.ts'
import { build } from '../scenarios/run-build.ts'
import { type CassandraCluster, type CassandraNode, cassandraClasspath, startCassandra } from './cassandra-cluster.ts'
import type { InternodeLinks } from './internode-links.ts'

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

/** Milliseconds that a node is away: longer than the others need to declare it dead. */
const awayTime = 30_000

/** Milliseconds until a fault must be over, on a busy machine. */
const patience = 600_000

t.test('faults of three nodes of Cassandra', { skip, timeout: 7_200_000 }, async (t) => {
  await build()
  t.comment(`seed ${seed}`)
  const { classpath } = programs as Exclude<typeof programs, string>
  const cluster = await startCassandra(classpath, { links: true })
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

  for (const control of ['faults/histories/early', 'faults/histories/unguarded', 'distributed/cassandra-overwriting'])
    t.test(`the check finds ${control}-store.js`, async (t) => {
      const prefix = `module:./test/${control}-store.js?`
      const faults = control.includes('early') ? { 'two nodes killed': twoKilled(t, cluster, false) } : {}
      const { histories } = await record(t, await empty(), Math.min(operations, 1_500), faults, prefix)
      const { all, counts } = countViolations(histories)
      t.comment(`${all} ids unexplained: ${JSON.stringify(Object.fromEntries(counts))}`)
      t.ok(all > 0)
    })

  t.test('after a write without an outcome, the same plant gets 200 and another one 409', async (t) => {
    const service = await startService(await empty())
    const agent = new Agent({ keepAlive: true })
    t.teardown(async () => {
      agent.destroy()
      await service.stop()
    })
    const statusOf = async (name: string) =>
      (await requestPlant({ id: 1n, name }, { port: service.port, agent, timeout: 60_000 })).status
    const frozen = cluster.nodes.slice(1)
    for (const node of frozen) node.signal('SIGSTOP')
    const unknown = await statusOf('a').finally(() => {
      for (const node of frozen) node.signal('SIGCONT')
    })
    t.equal(unknown, 503)
    await until(async () => (await statusOf('a')) === 200, 'a retry to get 200', patience)
    await until(async () => (await statusOf('b')) === 409, 'another plant to get 409', patience)
    t.equal(await statusOf('a'), 200)
  })
})

type Fault = (load: RecordedLoad, services: Service[]) => Promise<void>
type Faults = Record<string, Fault>

const kept = (load: RecordedLoad) => load.answered()
const refusedBy = (load: RecordedLoad) => load.answers.get(503) ?? 0

/** Resolves once writes get an outcome again. */
async function untilAnswered(load: RecordedLoad): Promise<void> {
  const before = kept(load)
  await until(() => kept(load) > before + 20, 'creates with an outcome', patience)
}

/** Returns the faults of nodes. Each is over when it resolves. */
function faultsOf(t: Test, cluster: CassandraCluster): Faults {
  const [first, second, third] = cluster.nodes as [CassandraNode, CassandraNode, CassandraNode]
  const links = cluster.links as InternodeLinks
  /** Keeps a node away while the others go on, and reports the answers meanwhile. */
  const oneAway = (name: string, away: () => unknown, back: () => unknown): [string, Fault] => [
    name,
    async (load) => {
      const gap = longestGap(load)
      const [answered, refused] = [kept(load), refusedBy(load)]
      await away()
      await sleep(awayTime)
      await untilAnswered(load)
      t.comment(
        `${name}: ${gap()} ms without an outcome at most; ` +
          `${kept(load) - answered} creates with one, ${refusedBy(load) - refused} with 503`,
      )
      await back()
      await untilAnswered(load)
    },
  ]
  const oneApart = (name: string, isCut: (from: string, to: string) => boolean) =>
    oneAway(
      name,
      () => links.cut(isCut),
      () => links.cut(() => false),
    )
  return Object.fromEntries([
    oneAway(
      'one node killed',
      () => third.end('SIGKILL'),
      () => third.start(),
    ),
    ['two nodes killed', twoKilled(t, cluster, true)],
    oneAway(
      'one node frozen',
      () => second.signal('SIGSTOP'),
      () => second.signal('SIGCONT'),
    ),
    oneApart(
      'one node apart from the others',
      (from, to) => (from === third.peerAddress) !== (to === third.peerAddress),
    ),
    oneApart('one node heard by no other', (from) => from === third.peerAddress),
    [
      'all nodes apart',
      withoutQuorum(
        t,
        async () => links.cut(() => true),
        async () => links.cut(() => false),
      ),
    ],
    [
      'rolling restart',
      async (load) => {
        const gap = longestGap(load)
        for (const node of [first, second, third]) {
          await node.end('SIGTERM')
          await node.start()
          await untilAnswered(load)
        }
        t.comment(`rolling restart: ${gap()} ms without an outcome at most`)
      },
    ],
    ...(faketime === undefined ? [] : [['clock of one node skewed', skewed(third, faketime)]]),
  ] as [string, Fault][])
}

/** Restarts a node with a clock that is one hour fast, then one hour slow, then right. */
function skewed(node: CassandraNode, library: string): Fault {
  const fake = { LD_PRELOAD: library, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
  return async (load) => {
    for (const environment of [{ ...fake, FAKETIME: '+1h' }, { ...fake, FAKETIME: '-1h' }, {}]) {
      await node.end('SIGTERM')
      await node.start(environment)
      await untilAnswered(load)
      await sleep(5_000)
    }
  }
}

/** Kills two of three nodes, and starts them again. */
const twoKilled = (t: Test, { nodes: [, ...others] }: CassandraCluster, mustRefuse: boolean): Fault =>
  withoutQuorum(
    t,
    async () => void (await Promise.all(others.map((node) => node.end('SIGKILL')))),
    async () => {
      for (const node of others) await node.start()
    },
    mustRefuse,
  )

/** Leaves no quorum for a while. If `mustRefuse`, no create may have an outcome then, and the services are unready. */
function withoutQuorum(t: Test, away: () => Promise<void>, back: () => Promise<void>, mustRefuse = true): Fault {
  return async (load, services) => {
    const allGet = (status: number) => async () =>
      (await Promise.all(services.map((service) => service.page('/readyz')))).every((page) => page.status === status)
    await away()
    await sleep(3_000)
    const [answered, refused] = [kept(load), refusedBy(load)]
    await sleep(8_000)
    if (mustRefuse) {
      await until(allGet(503), 'unready services', patience)
      t.equal(kept(load), answered, 'no create has an outcome without a quorum')
      t.ok(refusedBy(load) > refused, 'creates get 503 without a quorum')
    }
    await back()
    await untilAnswered(load)
    if (mustRefuse) await until(allGet(200), 'ready services', patience)
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
  // A node may lack the new table for a moment, and then a service exits.
  const start = () => startService(prefix + url).catch(() => undefined)
  const services = await Promise.all([1, 2, 3].map(() => until(start, 'a service', patience)))
  const load = startRecordedLoad(
    services.map(({ port }) => port),
    randomOf(seed),
  )
  await untilAnswered(load)
  for (const [name, suffer] of Object.entries(faults)) {
    const before = kept(load)
    await suffer(load, services)
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
  // A node that was away when the table was created lacks it for a while.
  const store = await until(() => openCassandra(url).catch(() => undefined), 'a store', patience)
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
