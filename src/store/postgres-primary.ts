import pg, { type Pool, type PoolClient, type QueryResultRow } from 'pg'
import { settingsQuery, unfit } from './postgres-server.ts'
import type { PostgresSettings } from './postgres-url.ts'
import { Unavailable } from './unavailable.ts'

/** The one of several servers that takes writes and keeps them, whichever it is at the time. */
export type Primary = {
  /**
   * Runs one statement in a transaction of its own. Rejects with the server's error, whose `code` is an SQLSTATE, with
   * the driver's when the connection fails, or with `Unavailable` when no server can be used or answers in time.
   */
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  /** Ends all connections, also those whose answer is still awaited. */
  close(): Promise<void>
}

/** Connects when it is first needed, and looks for the primary again after any error. */
export function openPrimary({ servers, timeout, acceptLoss }: PostgresSettings): Primary {
  const pools = servers.map((server) => new pg.Pool(server))
  for (const pool of pools) {
    // A connection that breaks is noticed by who uses it, and an idle one is gone from the pool.
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
  }
  const lent = new Set<PoolClient>()
  let chosen: Promise<Pool> | undefined
  let closed = false

  /** The server that says first that it is fit. */
  async function choose(): Promise<Pool> {
    const asked = pools.map(async (pool) => {
      const rows = await execute<{ name: string; setting: string }>(pool, settingsQuery, [])
      const reason = unfit(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), acceptLoss)
      if (reason !== undefined) throw new Error(reason)
      return pool
    })
    return await Promise.any(asked).catch((error: AggregateError) => {
      // The refusals of all addresses of a host come without a message of their own.
      const reasons = error.errors.map(({ message, code }) => message || code)
      throw new Unavailable(`no server can be used: ${reasons.join('; ')}`, { cause: error })
    })
  }

  /**
   * An answer that is late is given up, but nothing is cancelled and the connection stays lent until it comes: a server
   * whose commits wait for a standby does not notice that a client has gone, and would soon have no connection left.
   */
  async function execute<Row extends QueryResultRow>(pool: Pool, text: string, values: unknown[]): Promise<Row[]> {
    const client = await pool.connect()
    if (closed) {
      client.release(true)
      throw new Error('the store is closed')
    }
    lent.add(client)
    const answer = run<Row>(client, text, values)
    const release = (failed: boolean) => {
      if (lent.delete(client)) client.release(failed)
    }
    answer.then(
      () => release(false),
      () => release(true),
    )
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Unavailable('the server does not answer in time')), timeout)
    })
    return await Promise.race([answer, late]).finally(() => clearTimeout(timer))
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
      for (const client of lent) client.release(true)
      lent.clear()
      await Promise.all(ended)
    },
  }
}

/**
 * A warning is a failure: a commit whose wait for a synchronous standby is cancelled succeeds with no more than that
 * (postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION-HA).
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
