import pg, { type Pool, type PoolClient, type PoolConfig, type QueryResultRow } from 'pg'
import { Unavailable } from './unavailable.ts'

/** The one of several servers that takes writes, whichever it is at the time. */
export type Primary = {
  /**
   * Runs one statement in a transaction of its own. Rejects with the server's error, whose `code` is an SQLSTATE, with
   * the driver's when the connection fails, or with `Unavailable` when no server takes writes or answers in time.
   */
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  /** Ends all connections, also those whose answer is still awaited. */
  close(): Promise<void>
}

/** SQLSTATE classes (PostgreSQL, appendix A) of what is wrong with a statement or its data, not with the server. */
const ofStatement = /^(22|23|40|42|54)/

/** Takes how to connect to each server, of which one takes writes, and how many milliseconds an answer may take. */
export function openPrimary(servers: PoolConfig[], timeout: number): Primary {
  const pools = servers.map((server) => new pg.Pool(server))
  for (const pool of pools) {
    // A connection that breaks is noticed by who uses it, and an idle one is gone from the pool.
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
  }
  const lent = new Set<PoolClient>()
  let chosen: Promise<Pool> | undefined

  /** The server that says first that it takes writes. */
  async function choose(): Promise<Pool> {
    const asked = pools.map(async (pool) => {
      const [row] = await execute<{ transaction_read_only: string }>(pool, 'SHOW transaction_read_only', [])
      if (row?.transaction_read_only !== 'off') throw new Error('it takes no writes')
      return pool
    })
    return await Promise.any(asked).catch((error: AggregateError) => {
      // The refusals of all addresses of a host come without a message of their own.
      const reasons = error.errors.map(({ message, code }) => message || code)
      throw new Unavailable(`no server takes writes: ${reasons.join('; ')}`, { cause: error })
    })
  }

  /**
   * An answer that is late is given up, but nothing is cancelled and the connection stays lent until it comes: a server
   * whose commits wait for a standby does not notice that a client has gone, and would soon have no connection left.
   */
  async function execute<Row extends QueryResultRow>(pool: Pool, text: string, values: unknown[]): Promise<Row[]> {
    const client = await pool.connect()
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
        if (chosen === used && !ofStatement.test(String((error as { code?: string }).code))) chosen = undefined
        throw error
      }
    },
    async close() {
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
