import { setTimeout as sleep } from 'node:timers/promises'
import pg, { type Pool, type PoolClient, type QueryResultRow } from 'pg'
import { Unavailable } from '../plant-store.ts'
import type { PostgresSettings } from './postgres-url.ts'

/**
 * Milliseconds after which a session is checked again: a reload of the server's configuration changes open sessions.
 * This is less than the time between two readiness probes.
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

const ignore = () => {}

/** Returns the primary of the servers. Connects at the first query, and looks for the primary again after any error. */
export function openPrimary({ servers, queryTimeout, acceptLoss }: PostgresSettings): Primary {
  const pools = servers.map((server) => new pg.Pool(server))
  for (const pool of pools) {
    // A query on a broken connection rejects, and the pool removes a broken idle connection.
    pool.on('error', ignore)
    pool.on('connect', (client) => client.on('error', ignore))
  }
  const inUse = new Set<PoolClient>()
  /** The sessions that were fit for writes since the last error, with the time of their last check. */
  let fit = new WeakMap<PoolClient, number>()
  let chosen: Promise<Pool> | undefined
  let closed = false

  /** Resolves with the first server that is fit for writes. */
  async function choose(): Promise<Pool> {
    fit = new WeakMap()
    const asked = pools.map((pool) => execute(pool).then(() => pool))
    return await Promise.any(asked).catch((error: AggregateError) => {
      // The error for a host whose addresses all refuse the connection has no message.
      const reasons = error.errors.map(({ message, code }) => message || code)
      throw new Unavailable(`no server can be used: ${reasons.join('; ')}`, { cause: error })
    })
  }

  /**
   * Runs a query, if any, with a deadline, in a session that is fit for writes. Any other session is closed: it keeps
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
      const fail = () => reject(new Unavailable(`the server did not respond within query_timeout, ${queryTimeout} ms`))
      timer = setTimeout(fail, queryTimeout)
    })
    return await Promise.race([answer, late]).finally(() => clearTimeout(timer))
  }

  /** Rejects when a session is not fit for writes. */
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

/** The settings of a server, by name. A PostgreSQL-compatible engine may lack some of them. */
export type ServerSettings = Partial<Record<(typeof names)[number], string>>

const names = [
  'transaction_read_only',
  'server_encoding',
  'fsync',
  'synchronous_commit',
  'synchronous_standby_names',
] as const

/** Selects the settings that `unfitReason` checks. */
export const settingsQuery = `SELECT name, setting FROM pg_settings WHERE name IN ('${names.join("', '")}')`

/**
 * Returns why a server with these settings must not receive writes, or undefined when it may. A server is rejected if
 * it is read-only or if its encoding is not UTF-8. Without `acceptLoss` it is also rejected if it can lose acknowledged
 * plants, by a crash of its own or by a failover to its standby.
 */
export function unfitReason(settings: ServerSettings, acceptLoss: boolean): string | undefined {
  const { transaction_read_only, server_encoding = 'UTF8', fsync, synchronous_commit = 'on' } = settings
  if (transaction_read_only === 'on') return 'it is read-only'
  if (server_encoding !== 'UTF8') return `its encoding is ${server_encoding}; expected UTF8`
  const waitsForDisk = fsync !== 'off' && synchronous_commit !== 'off'
  const skipsStandby = synchronous_commit === 'local' && Boolean(settings.synchronous_standby_names)
  if (acceptLoss || (waitsForDisk && !skipsStandby)) return undefined
  const setting = fsync === 'off' ? 'fsync is off' : `synchronous_commit is ${synchronous_commit}`
  return `its ${setting}, so it can lose acknowledged plants; change it, or set accept_data_loss=true`
}

/** The most runs of a transaction; after them its writes are rejected as unavailable. */
const attempts = 10

/** Milliseconds: before retry n, from the second on, the pause is at most `pause * 2 ** (n - 1)`. */
const pause = 1

/** SQLSTATEs after which a transaction may succeed when it is run again: serialization failure, deadlock. */
const retryable = /^(40001|40P01)$/
/** SQLSTATE classes of errors that a single record can cause: data exceptions, constraint violations, server limits. */
const ofRecord = /^(22|23|54)/

/** Returns whether a single record can have caused an error. */
export const isRecordError = (error: unknown): boolean => ofRecord.test((error as { code?: string }).code ?? '')

/**
 * Runs `attempt` until it resolves with a result, up to ten times. Undefined and a retryable error of the server cause
 * a retry. The first retry is immediate. Later ones follow a random pause, so that conflicting transactions do not
 * collide again. Rejects with an error that a single record can cause, and with `Unavailable` for any other.
 */
export async function withRetries<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let attempted = 0; attempted < attempts; attempted++) {
    if (attempted > 1) await sleep(Math.random() * pause * 2 ** (attempted - 1))
    try {
      const result = await attempt()
      if (result !== undefined) return result
    } catch (error) {
      const { code = '', message } = error as Error & { code?: string }
      if (retryable.test(code)) continue
      throw isRecordError(error) ? error : new Unavailable(message, { cause: error })
    }
  }
  throw new Unavailable(`gave up after ${attempts} serialization conflicts`)
}
