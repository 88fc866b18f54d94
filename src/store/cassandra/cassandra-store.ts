import { randomInt } from 'node:crypto'
import type { Client, ClientOptions, types } from 'cassandra-driver'
import { groupPlantCommits } from '../group-commit.ts'
import {
  type CreateOutcome,
  type PlantQueries,
  type PlantRow,
  type PlantStore,
  plantFromRow,
  type StoredPlant,
  Unavailable,
} from '../plant-store.ts'
import { type CassandraSettings, readCassandraUrl } from './cassandra-url.ts'

const insert = 'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) IF NOT EXISTS'
const select = 'SELECT id, name, tag FROM plants WHERE id = ?'

/** Commits a tombstone for an id without a plant. It never removes a plant, because the name of a plant is not null. */
const probe = 'DELETE FROM plants WHERE id = ? IF name = null'

/** Returns one of 4,096 ids: few, so that few tombstones are kept, but enough to be spread over all nodes. */
const probeId = (): bigint => BigInt(randomInt(-2_048, 2_048)) * 2n ** 52n

/** The most writes in flight. With Paxos v1, each holds one of a node's write threads, 128 by default. */
const maxInFlight = 128

/**
 * Its `list` always rejects. `get` resolves with the plant of an id, or with undefined when there is none; the operation
 * of examples/get-plant.patch and the tests call it.
 */
type CassandraStore = PlantStore & PlantQueries & { get(id: bigint): Promise<StoredPlant | undefined> }

/** Error code of the server for a statement that is invalid on every node. */
const invalid = 0x2200

const isMissing = / does not exist/
const withRemedy = (message: string) => (isMissing.test(message) ? `${message}; run plant-store migrate` : message)

/**
 * Opens the Cassandra keyspace of a URL, which any number of instances can share. Rejects when the table is missing, or
 * when the cluster could lose acknowledged plants.
 */
export async function openCassandra(url: string, load = loadCassandraDriver): Promise<CassandraStore> {
  const settings = readCassandraUrl(url)
  const driver = await load()
  const client = await connect(settings, settings.keyspace, driver)
  /** The ids that are being created, each with what is stored afterwards. */
  const inFlight = new Map<bigint, Promise<StoredPlant>>()
  let lossRisk: string | undefined
  let closing: Promise<void> | undefined

  async function run(statement: string, values: unknown[], options?: { consistency: number }) {
    try {
      return (await client.execute(statement, values, options)).first() as types.Row | null
    } catch (error) {
      const { code, message } = error as Error & { code?: number }
      // A node that was away when the table was created lacks it for up to a minute after its return.
      if (code === invalid && !isMissing.test(message)) throw error
      throw new Unavailable(withRemedy(message), { cause: error })
    }
  }

  /** Checks the keyspace and every node, because a node may return with other settings. */
  async function check(): Promise<void> {
    if (settings.acceptLoss) return
    lossRisk = await lossReason(client, settings)
    if (lossRisk !== undefined) throw new Unavailable(`${lossRisk}; change that, or set accept_data_loss=true`)
  }

  /** Stores a plant unless its id is taken. Resolves with the stored plant, which is `plant` itself when it is new. */
  async function store(plant: StoredPlant): Promise<StoredPlant> {
    if (lossRisk !== undefined) throw new Unavailable(lossRisk)
    // The driver leaves an undefined tag unset, while null would write a tombstone.
    const row = (await run(insert, [plant.id, plant.name, plant.tag])) as types.Row
    return row['[applied]'] ? plant : toPlant(row)
  }

  /**
   * Creates a plant. A write whose id is in flight waits for that outcome, because concurrent proposals for a key
   * contend. The stored plant never changes, so the waiting writes are compared with it.
   */
  async function commit(plant: StoredPlant): Promise<CreateOutcome> {
    const current = inFlight.get(plant.id) ?? store(plant).finally(() => inFlight.delete(plant.id))
    inFlight.set(plant.id, current)
    const stored = await current
    if (stored === plant) return 'created'
    return stored.name === plant.name && stored.tag === plant.tag ? 'identical' : 'conflict'
  }

  // A conditional statement writes one key, so a batch has one plant. An unavailable key does not reject the queue,
  // because the nodes of other keys may be up.
  const creates = groupPlantCommits((batch) => Promise.all(batch.map(commit)), {
    batchItems: 1,
    maxInFlight,
    rejectsQueue: false,
  })
  const assertOpen = () => {
    if (closing !== undefined) throw new Error('the store is closed')
  }

  try {
    await check()
    // Fails if the table is missing.
    await run(select, [0n])
  } catch (error) {
    await client.shutdown()
    throw error
  }
  // Errors are ignored here: the next probe reports them.
  client.on('hostUp', () => void check().catch(() => {}))

  return {
    create: creates.submit,
    async ready() {
      assertOpen()
      await check()
      await run(probe, [probeId()])
    },
    async get(id) {
      assertOpen()
      const row = await run(select, [id], { consistency: driver.types.consistencies.serial })
      return row === null ? undefined : toPlant(row)
    },
    list: rejectList,
    close() {
      closing ??= creates.close().then(() => client.shutdown())
      return closing
    },
  }
}

const rejectList = async (): Promise<never> => {
  throw new Error("Cassandra orders plants by the hash of their id, so they cannot be listed; use Cassandra's tools")
}

const toPlant = (row: types.Row): StoredPlant => plantFromRow(row as types.Row & PlantRow)

/**
 * Creates the keyspace and the table of a URL where they are missing, and checks them. Resolves with a line to print.
 */
export async function migrateCassandra(
  url: string,
  replicationFactor: number,
  load = loadCassandraDriver,
): Promise<string> {
  const settings = readCassandraUrl(url)
  const { keyspace, datacenter } = settings
  if (replicationFactor < 3 && !settings.acceptLoss) {
    throw new Error(
      `a replication factor of ${replicationFactor} can lose acknowledged plants; use 3, or set accept_data_loss=true`,
    )
  }
  const client = await connect(settings, undefined, await load())
  try {
    await createTable(client, settings, replicationFactor)
  } finally {
    await client.shutdown()
  }
  await openCassandra(url, load).then((store) => store.close())
  return `keyspace ${keyspace} with table plants exists in ${datacenter}\n`
}

/** Loads the driver, an optional package. Rejects with one line when it is not installed. */
export const loadCassandraDriver = async () => (await import('cassandra-driver').catch(driverMissing)).default

/** Throws an error without the file paths that Node.js puts into its message. */
export function driverMissing(cause: unknown): never {
  throw new Error('the optional package cassandra-driver is not installed; run npm install cassandra-driver', { cause })
}

export type Driver = Awaited<ReturnType<typeof loadCassandraDriver>>

/** Connects to the nodes of a data center. By default statements have the consistency QUORUM. */
export async function connect(
  { contactPoints, datacenter, credentials, tls, connectTimeout, queryTimeout }: CassandraSettings,
  keyspace: string | undefined,
  driver: Driver,
): Promise<Client> {
  const { consistencies } = driver.types
  const retry = new driver.policies.retry.RetryPolicy()
  // A statement is retried once, on another node (`false`), if the connection is lost, or if a node is overloaded,
  // starting, or without a quorum of replicas. A retry after a timeout would double the longest time of a request.
  retry.onRequestError = ({ nbRetry }, consistency, error) =>
    nbRetry > 0 || error instanceof driver.errors.OperationTimedOutError
      ? retry.rethrowResult()
      : retry.retryResult(consistency, false)
  retry.onReadTimeout = () => retry.rethrowResult()
  const client = new driver.Client({
    contactPoints,
    localDataCenter: datacenter,
    ...(keyspace !== undefined && { keyspace }),
    ...(credentials !== undefined && { credentials }),
    ...(tls !== undefined && { sslOptions: tls }),
    queryOptions: {
      prepare: true,
      // A statement may run twice: the same create is then identical.
      isIdempotent: true,
      consistency: consistencies.quorum,
      serialConsistency: consistencies.serial,
    },
    encoding: { useBigIntAsLong: true },
    // The default waits up to ten minutes before it connects to a node that was away.
    policies: { retry, reconnection: new driver.policies.reconnection.ConstantReconnectionPolicy(1_000) },
    socketOptions: { connectTimeout, readTimeout: queryTimeout },
  } satisfies ClientOptions)
  try {
    await client.connect()
    return client
  } catch (error) {
    await client.shutdown()
    const { message } = error as Error
    throw new Error(withRemedy(message), { cause: error })
  }
}

const findKeyspace = 'SELECT replication, durable_writes FROM system_schema.keyspaces WHERE keyspace_name = ?'
export const findSettings =
  "SELECT name, value FROM system_views.settings WHERE name IN ('commitlog_sync', 'paxos_variant')"

/**
 * Resolves with the reason why an acknowledged plant could be lost: a replication factor below 3, a node that
 * acknowledges before its commit log is on disk, or one whose Paxos is not safe while nodes join or leave. Resolves with
 * undefined when there is none. Rejects with Unavailable when the keyspace does not exist.
 */
export async function lossReason(
  client: Client,
  { keyspace, datacenter }: CassandraSettings,
): Promise<string | undefined> {
  const row = (await client.execute(findKeyspace, [keyspace])).first() as types.Row | null
  if (row === null) throw new Unavailable(withRemedy(`keyspace ${keyspace} does not exist`))
  const { class: _class, ...replicas } = row.replication as Record<string, string>
  let factor = 0
  for (const count of Object.values(replicas)) factor += Number.parseInt(count, 10)
  if (factor < 3) return `keyspace ${keyspace} has a replication factor of ${factor}; at least 3 is safe`
  if (!row.durable_writes) return `keyspace ${keyspace} has durable_writes = false`
  for (const host of client.hosts.values()) {
    if (!host.isUp() || host.datacenter !== datacenter) continue
    // The table is virtual: each node answers with its own settings.
    const { rows } = await client.execute(findSettings, [], { host, prepare: false })
    const { commitlog_sync, paxos_variant } = Object.fromEntries(rows.map(({ name, value }) => [name, value]))
    if (commitlog_sync === 'periodic') {
      return `node ${host.address} has commitlog_sync: periodic, so it acknowledges before plants are on disk`
    }
    if (paxos_variant !== 'v2') {
      return `node ${host.address} has paxos_variant: ${paxos_variant}, so plants can be lost while nodes join or leave; v2 is safe`
    }
  }
  return undefined
}

/** Creates the keyspace, with its replication factor in the data center, and the table, unless they exist. */
export async function createTable(
  client: Client,
  { keyspace, datacenter }: CassandraSettings,
  replicationFactor: number,
): Promise<void> {
  // CQL has no parameters for identifiers. The URL allows only keyspaces without quotes.
  const replication = `{'class': 'NetworkTopologyStrategy', '${datacenter.replaceAll("'", "''")}': ${replicationFactor}}`
  const statements = [
    `CREATE KEYSPACE IF NOT EXISTS ${keyspace} WITH replication = ${replication}`,
    `CREATE TABLE IF NOT EXISTS ${keyspace}.plants (id bigint PRIMARY KEY, name text, tag text)`,
  ]
  for (const statement of statements) await client.execute(statement, [], { prepare: false })
}
