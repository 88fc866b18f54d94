import pg, { type Pool, type PoolConfig, type QueryResultRow } from 'pg'
import { Unavailable } from './unavailable.ts'

/** The one of several servers that takes writes, whichever it is at the time. */
export type Primary = {
  /**
   * Runs one statement in a transaction of its own. Rejects with the server's error, whose `code` is an SQLSTATE, with
   * the driver's when the connection fails, or with `Unavailable` when no server takes writes.
   */
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

/** SQLSTATE classes (PostgreSQL, appendix A) of what is wrong with a statement or its data, not with the server. */
const ofStatement = /^(22|23|40|42|54)/

/** Takes how to connect to each server, of which one takes writes; connects when it is first needed. */
export function openPrimary(servers: PoolConfig[]): Primary {
  const pools = servers.map((server) => {
    const pool = new pg.Pool(server)
    // A connection that breaks is noticed by who uses it, and an idle one is gone from the pool.
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    return pool
  })
  let chosen: Promise<Pool> | undefined

  return {
    async query<Row extends QueryResultRow>(text: string, values: unknown[] = []) {
      chosen ??= choose(pools)
      const used = chosen
      try {
        return await execute<Row>(await used, text, values)
      } catch (error) {
        if (chosen === used && !ofStatement.test(String((error as { code?: string }).code))) chosen = undefined
        throw error
      }
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}

async function choose(pools: Pool[]): Promise<Pool> {
  try {
    return await Promise.any(
      pools.map(async (pool) => {
        const [row] = await execute<{ transaction_read_only: string }>(pool, 'SHOW transaction_read_only', [])
        if (row?.transaction_read_only !== 'off') throw new Error('it takes no writes')
        return pool
      }),
    )
  } catch (error) {
    // The refusals of all addresses of a host come without a message of their own.
    const reasons = (error as AggregateError).errors.map(({ message, code }) => message || code)
    throw new Unavailable(`no server takes writes: ${reasons.join('; ')}`, { cause: error })
  }
}

/**
 * A warning is a failure: a commit whose wait for a synchronous standby is cancelled succeeds with no more than that
 * (postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION-HA). After any error the connection is closed,
 * which cancels nothing.
 */
async function execute<Row extends QueryResultRow>(pool: Pool, text: string, values: unknown[]): Promise<Row[]> {
  const client = await pool.connect()
  let warning: string | undefined
  const listen = ({ code, message }: { code: string | undefined; message: string | undefined }) => {
    if (code?.startsWith('01')) warning = message
  }
  client.on('notice', listen)
  try {
    const { rows } = await client.query<Row>(text, values)
    if (warning !== undefined) throw new Unavailable(warning)
    client.off('notice', listen)
    client.release()
    return rows
  } catch (error) {
    client.release(true)
    throw error
  }
}
