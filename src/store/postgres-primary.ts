import pg, { type Pool, type PoolClient, type QueryResultRow } from 'pg'
import { settingsQuery, unfitReason } from './postgres-server.ts'
import type { PostgresSettings } from './postgres-url.ts'
import { Unavailable } from './unavailable.ts'

/**
 * Milliseconds after which a session is checked again: a reload of the server's configuration changes open sessions. This
 * is less than the time between two readiness probes.
 */
const checkInterval = 4_000

/** The primary among several servers: the one that accepts writes and keeps them. It may change at any time. */
export type Primary = {
  /**
   * Runs one statement in a transaction of its own. Rejects with the error of the server, whose `code` is an SQLSTATE,
   * with the error of the driver when the connection fails, or with `Unavailable` when no server can be used, or when
   * the server does not respond within `query_timeout`.
   */
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  /** Closes all connections, including those with a pending query. */
  close(): Promise<void>
}

/** Returns the primary of the servers. Connects at the first query, and looks for the primary again after any error. */
export function openPrimary({ servers, timeout, acceptLoss }: PostgresSettings): Primary {
  const pools = servers.map((server) => new pg.Pool(server))
  for (const pool of pools) {
    // A query on a broken connection rejects, and the pool removes a broken idle connection.
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
  }
  const inUse = new Set<PoolClient>()
  /** The sessions that were fit for creates since the last error, with the time of their last check. */
  let fit = new WeakMap<PoolClient, number>()
  let chosen: Promise<Pool> | undefined
  let closed = false

  /** Resolves with the first server that is fit for creates. */
  async function choose(): Promise<Pool> {
    fit = new WeakMap()
    const asked = pools.map(async (pool) => {
      await execute(pool)
      return pool
    })
    return await Promise.any(asked).catch((error: AggregateError) => {
      // The error for a host whose addresses all refuse the connection has no message.
      const reasons = error.errors.map(({ message, code }) => message || code)
      throw new Unavailable(`no server can be used: ${reasons.join('; ')}`, { cause: error })
    })
  }

  /**
   * Runs a query, if any, with a deadline, in a session that is fit for creates. Any other session is closed: it keeps
   * the settings that its server, database or role had when it began, such as default_transaction_read_only. A late
   * query is not canceled, and its connection stays in use until the answer comes: a server whose commits wait for a
   * standby does not notice closed connections, and would run out of them.
   */
  async function execute<Row extends QueryResultRow>(
    pool: Pool,
    text?: string,
    values: unknown[] = [],
  ): Promise<Row[]> {
    const client = await pool.connect()
    if (closed) {
      client.release(true)
      throw new Error('the store is closed')
    }
    inUse.add(client)
    const answer = checked(client).then(() => (text === undefined ? [] : run<Row>(client, text, values)))
    const release = (failed: boolean) => {
      if (inUse.delete(client)) client.release(failed)
    }
    answer.then(
      () => release(false),
      () => release(true),
    )
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      const fail = () => reject(new Unavailable(`the server did not respond within query_timeout, ${timeout} ms`))
      timer = setTimeout(fail, timeout)
    })
    return await Promise.race([answer, late]).finally(() => clearTimeout(timer))
  }

  /** Rejects when a session is not fit for creates. */
  async function checked(client: PoolClient): Promise<void> {
    const now = performance.now()
    if (now - (fit.get(client) ?? Number.NEGATIVE_INFINITY) < checkInterval) return
    const rows = await run<{ name: string; setting: string }>(client, settingsQuery, [])
    const reason = unfitReason(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), acceptLoss)
    if (reason !== undefined) throw new Error(reason)
    fit.set(client, now)
  }

  return {
    async query<Row extends QueryResultRow>(text: string, values: unknown[] = []) {
      chosen ??= choose()
      const used = chosen
      try {
        return await execute<Row>(await used, text, values)
      } catch (error) {
        if (chosen === used) chosen = undefined
        throw error
      }
    },
    async close() {
      closed = true
      const ended = pools.map((pool) => pool.end())
      for (const client of inUse) client.release(true)
      inUse.clear()
      await Promise.all(ended)
    },
  }
}

/**
 * Runs a query and treats a warning as a failure: a commit whose wait for a synchronous standby is canceled succeeds
 * with only a warning (postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION-HA).
 */
async function run<Row extends QueryResultRow>(client: PoolClient, text: string, values: unknown[]): Promise<Row[]> {
  let warning: string | undefined
  const listen = ({ code, message }: { code: string | undefined; message: string | undefined }) => {
    if (code?.startsWith('01')) warning = message
  }
  client.on('notice', listen)
  const { rows } = await client.query<Row>(text, values).finally(() => client.off('notice', listen))
  if (warning !== undefined) throw new Unavailable(warning)
  return rows
}
