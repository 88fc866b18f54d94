import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import cassandra from 'cassandra-driver'
import t, { type Test } from 'tap'
import { migrate, migrateHelp } from '../../src/cli/migrate.ts'
import {
  type Driver,
  driverMissing,
  loadCassandraDriver,
  migrateCassandra,
  openCassandra,
} from '../../src/store/cassandra/cassandra-store.ts'
import { readCassandraUrl } from '../../src/store/cassandra/cassandra-url.ts'
import { conformance } from '../../src/store/conformance.ts'
import { migrateStore, openForReading, openStore } from '../../src/store/open.ts'
import { Unavailable } from '../../src/store/plant-store.ts'

const url = 'cassandra://one,two:9043,[::1]/plants?datacenter=dc1'

type Plant = { id: bigint; name: string; tag: string | null }

/** Settings of a simulated cluster, and what it received. */
type Cluster = {
  plants: Map<bigint, Plant>
  replication: Record<string, string>
  durable: boolean
  sync: string[]
  paxos: string | undefined
  keyspaces: Set<string>
  statements: { statement: string; values: unknown[]; options: { host?: unknown; consistency?: number } }[]
  clients: { options: cassandra.ClientOptions; listeners: (() => void)[]; isOpen: boolean }[]
  /** Runs before each statement. */
  before(statement: string): Promise<void> | void
}

const newCluster = (changes: Partial<Cluster> = {}): Cluster => ({
  plants: new Map(),
  replication: { class: 'org.apache.cassandra.locator.NetworkTopologyStrategy', dc1: '3' },
  durable: true,
  sync: ['batch', 'group'],
  paxos: 'v2',
  keyspaces: new Set(['plants']),
  statements: [],
  clients: [],
  before: () => {},
  ...changes,
})

/** Returns a driver whose clients speak to a simulated cluster. */
function driverOf(cluster: Cluster): () => Promise<Driver> {
  class Client {
    readonly hosts = new Map(
      [...cluster.sync, 'down', 'elsewhere'].map((sync, index) => [
        sync + index,
        {
          address: `node ${index}`,
          sync,
          isUp: () => sync !== 'down',
          datacenter: sync === 'elsewhere' ? 'dc2' : 'dc1',
        },
      ]),
    )
    readonly state: Cluster['clients'][number]

    constructor(options: cassandra.ClientOptions) {
      this.state = { options, listeners: [], isOpen: true }
      cluster.clients.push(this.state)
    }
    async connect() {
      await cluster.before('connect')
      const { keyspace } = this.state.options
      if (keyspace !== undefined && !cluster.keyspaces.has(keyspace)) throw new Error('Keyspace does not exist')
    }
    async shutdown() {
      this.state.isOpen = false
    }
    on(event: string, listener: () => void) {
      if (event === 'hostUp') this.state.listeners.push(listener)
    }
    async execute(statement: string, values: unknown[], options: Cluster['statements'][number]['options'] = {}) {
      cluster.statements.push({ statement, values, options })
      await cluster.before(statement)
      return { rows: this.settings(options), first: () => this.answer(statement, values) }
    }
    settings({ host }: { host?: unknown }) {
      const values = { commitlog_sync: (host as { sync: string } | undefined)?.sync, paxos_variant: cluster.paxos }
      return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
    }
    answer(statement: string, [id, name, tag]: unknown[]) {
      if (statement.includes('system_schema')) {
        const isThere = cluster.keyspaces.has(id as string)
        return isThere ? { replication: cluster.replication, durable_writes: cluster.durable } : null
      }
      const found = cluster.plants.get(id as bigint)
      if (statement.startsWith('SELECT')) return found ?? null
      if (statement.startsWith('INSERT')) {
        if (found !== undefined) return { ...found, '[applied]': false }
        cluster.plants.set(id as bigint, { id: id as bigint, name: name as string, tag: (tag as string) ?? null })
      }
      return { '[applied]': true }
    }
  }
  return async () => ({ ...cassandra, Client }) as unknown as Driver
}

async function opened(t: Test, cluster: Cluster, given = url) {
  const store = await openCassandra(given, driverOf(cluster))
  t.teardown(() => store.close())
  return store
}

for (const [name, run] of Object.entries(conformance))
  t.test(`with a simulated cluster: ${name}`, async () => {
    const load = driverOf(newCluster())
    await run(() => openCassandra(url, load), true)
  })

t.test('a URL is parsed, with defaults', async (t) => {
  t.same(readCassandraUrl(url), {
    contactPoints: ['one', 'two:9043', '[::1]'],
    keyspace: 'plants',
    datacenter: 'dc1',
    credentials: undefined,
    tls: undefined,
    connectTimeout: 3_000,
    queryTimeout: 5_000,
    acceptLoss: false,
  })
  const all = 'datacenter=a+b&connect_timeout=7&query_timeout=9&accept_data_loss=true&sslmode=disable'
  t.match(readCassandraUrl(`cassandra://me:p%40ss@one/plants?${all}`), {
    datacenter: 'a+b',
    credentials: { username: 'me', password: 'p@ss' },
    connectTimeout: 7_000,
    queryTimeout: 9,
    acceptLoss: true,
    tls: undefined,
  })
})

t.test('TLS verifies certificates as the mode says', async (t) => {
  const path = join(t.testdir({}), 'file.pem')
  writeFileSync(path, 'a certificate')
  const tlsOf = (parameters: string) => readCassandraUrl(`${url}&${parameters}`).tls
  t.same(tlsOf(`sslmode=verify-full&sslrootcert=${path}&sslcert=${path}&sslkey=${path}`), {
    ca: Buffer.from('a certificate'),
    cert: Buffer.from('a certificate'),
    key: Buffer.from('a certificate'),
    rejectUnauthorized: true,
  })
  const cases: [string, object][] = [
    ['require', { rejectUnauthorized: false }],
    [`require&sslrootcert=${path}`, { ca: Buffer.from('a certificate'), rejectUnauthorized: true }],
    [`verify-ca&sslrootcert=${path}`, { ca: Buffer.from('a certificate'), rejectUnauthorized: true }],
  ]
  for (const [mode, expected] of cases) {
    const { checkServerIdentity, ...rest } = tlsOf(`sslmode=${mode}`) as Record<string, unknown>
    t.same(rest, expected, mode)
    t.equal((checkServerIdentity as () => undefined)(), undefined)
  }
})

t.test('an invalid parameter is rejected with the expected ones', async (t) => {
  const cases: [string, RegExp][] = [
    ['cassandra://one/plants', /datacenter is missing; name the data center/],
    [`${url}&shade=red`, /unknown parameter shade; expected one of sslmode, .*, datacenter/],
    [`${url}&query_timeout=0`, /query_timeout is "0"; expected a number of milliseconds/],
    [`${url}&sslkey=a`, /sslkey requires sslmode; expected disable, require/],
    [`${url}&sslmode=verify-ca`, /sslmode=verify-ca requires sslrootcert; name the file of the CA/],
  ]
  for (const [given, message] of cases) t.throws(() => readCassandraUrl(given), message)
})

t.test('the driver gets the settings of the URL and retries only after a lost connection', async (t) => {
  const cluster = newCluster()
  await opened(t, cluster, url.replace('one', 'me:secret@one').concat('&sslmode=require&query_timeout=9'))
  const client = cluster.clients[0] as Cluster['clients'][number]
  const { serial, quorum } = cassandra.types.consistencies
  t.match(client.options, {
    contactPoints: ['one', 'two:9043', '[::1]'],
    localDataCenter: 'dc1',
    keyspace: 'plants',
    credentials: { username: 'me', password: 'secret' },
    sslOptions: { rejectUnauthorized: false },
    queryOptions: { prepare: true, isIdempotent: true, consistency: quorum, serialConsistency: serial },
    socketOptions: { connectTimeout: 3_000, readTimeout: 9 },
  })
  const { retry } = client.options.policies as { retry: cassandra.policies.retry.RetryPolicy }
  const [rethrow, again] = [0, 1]
  const decide = (nbRetry: number, error: Error) =>
    retry.onRequestError({ query: '', nbRetry } as cassandra.policies.retry.OperationInfo, quorum, error).decision
  t.equal(decide(0, new Error('lost')), again)
  t.equal(decide(1, new Error('lost')), rethrow)
  t.equal(decide(0, new cassandra.errors.OperationTimedOutError('late')), rethrow)
  t.equal(retry.onReadTimeout({} as cassandra.policies.retry.OperationInfo, quorum, 2, 2, false).decision, rethrow)
})

t.test('a missing driver is reported in one line', async (t) => {
  t.type((await loadCassandraDriver()).Client, 'function')
  t.throws(() => driverMissing(new Error('no module')), /^the optional package cassandra-driver is not installed/)
})

t.test('a cluster that can lose plants is rejected unless the URL accepts it', async (t) => {
  const cases: [Partial<Cluster>, RegExp][] = [
    [
      { replication: { class: 'SimpleStrategy', replication_factor: '2' } },
      /has a replication factor of 2; at least 3 is safe/,
    ],
    [{ durable: false }, /durable_writes = false/],
    [{ sync: ['batch', 'periodic'] }, /node node 1 has commitlog_sync: periodic/],
    [{ paxos: 'v1' }, /node node 0 has paxos_variant: v1, so plants can be lost while nodes join or leave/],
    [{ paxos: 'v2_without_linearizable_reads' }, /paxos_variant: v2_without/],
    // Cassandra 4.0 has no such setting.
    [{ paxos: undefined }, /paxos_variant: undefined/],
  ]
  for (const [changes, reason] of cases) {
    const cluster = newCluster(changes)
    await t.rejects(openCassandra(url, driverOf(cluster)), reason)
    t.equal(cluster.clients[0]?.isOpen, false, 'the connections are closed')
    const store = await opened(t, cluster, `${url}&accept_data_loss=true`)
    await store.ready()
  }
})

t.test('a node that returns with unsafe settings stops writes until it is safe', async (t) => {
  const cluster = newCluster()
  const store = await opened(t, cluster)
  cluster.durable = false
  for (const listener of cluster.clients[0]?.listeners ?? []) listener()
  await new Promise(setImmediate)
  await t.rejects(store.create({ id: 1n, name: 'a' }), /durable_writes/)
  await t.rejects(store.ready(), /durable_writes/)
  cluster.durable = true
  await store.ready()
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
})

t.test('an unknown outcome is unavailable, and a retry of the same plant is identical', async (t) => {
  const cluster = newCluster()
  const store = await opened(t, cluster)
  const failure = Object.assign(new Error('Server timeout during write query'), { code: 0x1100 })
  cluster.before = async () => {
    cluster.plants.set(1n, { id: 1n, name: 'a', tag: null })
    throw failure
  }
  const [same, other] = [store.create({ id: 1n, name: 'a' }), store.create({ id: 1n, name: 'b' })]
  await t.rejects(same, new Unavailable('Server timeout during write query'))
  await t.rejects(other, new Unavailable('Server timeout during write query'))
  cluster.before = () => {}
  t.equal(await store.create({ id: 1n, name: 'a' }), 'identical')
  t.equal(await store.create({ id: 1n, name: 'b' }), 'conflict')
})

t.test('an invalid statement is no unavailable store', async (t) => {
  const cluster = newCluster()
  const store = await opened(t, cluster)
  cluster.before = () => {
    throw Object.assign(new Error('Mutation is too large'), { code: 0x2200 })
  }
  await t.rejects(store.create({ id: 1n, name: 'a' }), { code: 0x2200 } as unknown as Error)
})

t.test('a node that lacks the table makes the store unavailable', async (t) => {
  const cluster = newCluster()
  const store = await opened(t, cluster)
  cluster.before = (statement) => {
    if (/ plants /.test(statement)) throw Object.assign(new Error('table plants does not exist'), { code: 0x2200 })
  }
  const missing = new Unavailable('table plants does not exist; run plant-store migrate')
  await t.rejects(store.create({ id: 1n, name: 'a' }), missing)
  await t.rejects(openCassandra(url, driverOf(cluster)), missing)
})

t.test('a dropped keyspace makes the store unavailable, with a remedy, until it is back', async (t) => {
  const cluster = newCluster()
  const store = await opened(t, cluster)
  cluster.keyspaces.delete('plants')
  await t.rejects(store.ready(), new Unavailable('keyspace plants does not exist; run plant-store migrate'))
  for (const listener of cluster.clients[0]?.listeners ?? []) listener()
  cluster.keyspaces.add('plants')
  await store.ready()
})

t.test('writes of one id share one proposal', async (t) => {
  const cluster = newCluster()
  const store = await opened(t, cluster)
  cluster.statements.length = 0
  // Each create starts in a turn of its own.
  cluster.before = () => sleep(100)
  const creates = ['a', 'a', 'b'].map((name) => store.create({ id: 1n, name }))
  t.same(await Promise.all(creates), ['created', 'identical', 'conflict'])
  t.equal(cluster.statements.length, 1)
})

t.test('a plant is read at SERIAL, and lists are rejected', async (t) => {
  const cluster = newCluster()
  const store = await opened(t, cluster)
  await store.create({ id: -1n, name: 'a', tag: '' })
  t.same(await store.get(-1n), { id: -1n, name: 'a', tag: '' })
  t.equal(cluster.statements.at(-1)?.options.consistency, cassandra.types.consistencies.serial)
  t.equal(await store.get(2n), undefined)
  await t.rejects(store.list(0n, 1), /cannot be listed/)
  await store.close()
  await t.rejects(store.get(1n), /closed/)
})

t.test('probes touch few ids, over the whole range', async (t) => {
  const cluster = newCluster()
  const store = await opened(t, cluster)
  cluster.statements.length = 0
  for (let probes = 0; probes < 50; probes++) await store.ready()
  const ids = cluster.statements.filter(({ statement }) => statement.startsWith('DELETE')).map(({ values: [id] }) => id)
  t.equal(ids.length, 50)
  for (const id of ids as bigint[]) t.ok(id % 2n ** 52n === 0n && BigInt.asIntN(64, id) === id)
  t.ok(ids.some((id) => (id as bigint) < 0n))
})

t.test('a migration creates the keyspace and the table, and rejects a replication factor below 3', async (t) => {
  const cluster = newCluster({ keyspaces: new Set() })
  const load = driverOf(cluster)
  await t.rejects(openCassandra(url, load), /does not exist; run plant-store migrate/)
  cluster.before = (statement) => {
    if (statement.startsWith('CREATE KEYSPACE')) cluster.keyspaces.add('plants')
  }
  t.equal(await migrateCassandra(url, 3, load), 'keyspace plants with table plants exists in dc1\n')
  const statements = cluster.statements.map(({ statement }) => statement)
  t.match(statements[0], /^CREATE KEYSPACE IF NOT EXISTS plants .*'NetworkTopologyStrategy', 'dc1': 3/)
  t.match(statements[1], /^CREATE TABLE IF NOT EXISTS plants\.plants \(id bigint PRIMARY KEY/)
  t.ok(cluster.clients.every(({ isOpen }) => !isOpen))
  await t.rejects(migrateCassandra(url, 2, load), /a replication factor of 2 can lose acknowledged plants/)
  t.match(await migrateCassandra(`${url}&accept_data_loss=true`, 1, load), /exists/)
  t.match(
    cluster.statements.findLast(({ statement }) => statement.startsWith('CREATE KEYSPACE'))?.statement,
    /'dc1': 1/,
  )
})

t.test('the command migrate validates its arguments', async (t) => {
  t.equal(await migrate(['--help'], {}), migrateHelp)
  await t.rejects(migrate(['--replication-factor=0'], {}), /--replication-factor must be a number from 1 to 99/)
  await t.rejects(
    migrate([], { STORE_URL: 'memory:' }),
    /^STORE_URL is "memory:": this store needs no migration; expected cassandra:/,
  )
  const secret = 'cassandra://me:secret@127.0.0.1:1/plants?datacenter=dc1'
  await t.rejects(migrate([], { STORE_URL: secret }), /^STORE_URL is "cassandra:\/\/me:\*\*\*@.*ECONNREFUSED/s)
})

t.test('each way to open a store reaches the cluster', async (t) => {
  const nowhere = 'cassandra://127.0.0.1:1/plants?datacenter=dc1'
  for (const open of [openStore, openForReading]) await t.rejects(open(nowhere) as Promise<unknown>, /ECONNREFUSED/)
  await t.rejects(migrateStore(nowhere, 3), /ECONNREFUSED/)
})
