import type { Client, ClientOptions } from 'cassandra-driver'
import type { CassandraSettings } from './cassandra-url.ts'

/** Loads the driver, an optional package. Rejects with one line when it is not installed. */
export const loadCassandraDriver = async () => (await import('cassandra-driver').catch(driverMissing)).default

/** Throws the error that replaces that of Node, which has the paths of this module. */
export function driverMissing(cause: unknown): never {
  throw new Error('the optional package cassandra-driver is not installed; run npm install cassandra-driver', { cause })
}

export type Driver = Awaited<ReturnType<typeof loadCassandraDriver>>

/** Connects to the nodes of a data center. Reads are serial, and a write waits for the disks of a quorum. */
export async function connect(
  { contactPoints, datacenter, credentials, tls, connectTimeout, queryTimeout }: CassandraSettings,
  keyspace: string | undefined,
  driver: Driver,
): Promise<Client> {
  const { consistencies } = driver.types
  const retry = new driver.policies.retry.RetryPolicy()
  // A retry after a timeout would double the longest time of a request, so only a lost connection causes one.
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
    throw new Error(/does not exist/.test(message) ? `${message}; run plant-store migrate` : message, { cause: error })
  }
}

const findKeyspace = 'SELECT replication, durable_writes FROM system_schema.keyspaces WHERE keyspace_name = ?'
export const findSync = "SELECT value FROM system_views.settings WHERE name = 'commitlog_sync'"

/**
 * Resolves with the reason why an acknowledged plant could be lost: fewer than three copies, or a node that
 * acknowledges before its commit log is on disk. Resolves with undefined when neither is so.
 */
export async function lossReason(
  client: Client,
  { keyspace, datacenter }: CassandraSettings,
): Promise<string | undefined> {
  const row = (await client.execute(findKeyspace, [keyspace])).first()
  const copies = Object.entries(row.replication as Record<string, string>)
    .filter(([option]) => option !== 'class')
    .reduce((sum, [, factor]) => sum + Number.parseInt(factor, 10), 0)
  if (copies < 3) return `keyspace ${keyspace} keeps ${copies} copies of a plant, of at least 3`
  if (!row.durable_writes) return `keyspace ${keyspace} has durable_writes = false`
  for (const host of client.hosts.values()) {
    if (!host.isUp() || host.datacenter !== datacenter) continue
    // The table is virtual: each node answers with its own settings.
    const found = (await client.execute(findSync, [], { host, prepare: false })).first()
    if (found.value === 'periodic') {
      return `node ${host.address} has commitlog_sync: periodic, so it acknowledges before plants are on disk`
    }
  }
  return undefined
}

/** Creates the keyspace, with `copies` copies in the data center, and the table. Changes neither when they exist. */
export async function createTable(
  client: Client,
  { keyspace, datacenter }: CassandraSettings,
  copies: number,
): Promise<void> {
  // The statements have no parameters for names; the URL allows only names without quotes.
  const replication = `{'class': 'NetworkTopologyStrategy', '${datacenter.replaceAll("'", "''")}': ${copies}}`
  const statements = [
    `CREATE KEYSPACE IF NOT EXISTS ${keyspace} WITH replication = ${replication}`,
    `CREATE TABLE IF NOT EXISTS ${keyspace}.plants (id bigint PRIMARY KEY, name text, tag text)`,
  ]
  for (const statement of statements) await client.execute(statement, [], { prepare: false })
}
