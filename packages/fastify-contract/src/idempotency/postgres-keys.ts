import { randomBytes } from 'node:crypto'
import {
  type Claim,
  type ClaimOutcome,
  type KeyedRequest,
  type KeyLimits,
  type KeyStore,
  keyLimits,
} from './key-store.ts'
import { everyFew, sizeMeter, tableName } from './key-table.ts'
import { type PostgresQuery, rowsOf } from './postgres-connection.ts'

export type PostgresKeyOptions = Partial<KeyLimits> & {
  /** Default: idempotency_keys. */
  table?: string
}

/** A stored key; the driver may return a bytea as any Uint8Array. */
export type KeyRow = { fingerprint: string; response: Uint8Array | null }

/** The statements of both PostgreSQL stores: they share the table, its limits and its creation. */
export type KeyTable = ReturnType<typeof keyTable>

/** Returns the time of the server, plus milliseconds that a value of a statement gives. */
const after = (value: string): string => `clock_timestamp() + ${value}::float8 * interval '1 millisecond'`

/** Returns what both PostgreSQL stores do with the table of keys. The clock is that of the server. */
export function keyTable(pool: PostgresQuery, { table: given, ...givenLimits }: PostgresKeyOptions) {
  const table = tableName(given)
  const limits = keyLimits(givenLimits)
  let isFull = false
  let made: Promise<unknown> | undefined
  const create = async () => {
    const columns = `id text PRIMARY KEY, fingerprint text NOT NULL, token text NOT NULL,
      leased_until timestamptz NOT NULL, expires_at timestamptz NOT NULL, response bytea`
    await ignoreRace(rowsOf(pool, `CREATE TABLE IF NOT EXISTS ${table} (${columns})`))
    await ignoreRace(rowsOf(pool, `CREATE INDEX IF NOT EXISTS ${table}_expiry ON ${table} (expires_at)`))
  }
  const meter = sizeMeter(limits, async function measureTable() {
    const size = `SELECT count(*)::float8 AS keys, coalesce(sum(length(response)), 0)::float8 AS bytes FROM ${table}`
    const [found] = await rowsOf<{ keys: number; bytes: number }>(pool, size)
    isFull = found !== undefined && (found.keys >= limits.keys || found.bytes >= limits.bytes)
  })
  const evict = everyFew(evictionInterval, () => rowsOf(pool, evictionOf(table)))
  return {
    table,
    limits,
    /** Notes a response that is kept. */
    add: meter.add,
    /** Creates the table at the first call, deletes some expired keys, and returns whether a new key has no room. */
    async prepare(): Promise<boolean> {
      // A failure is not kept: the database may be reachable at the next call.
      made ??= create().catch((error) => {
        made = undefined
        throw error
      })
      await made
      await evict(isFull)
      await meter.measure(isFull)
      return isFull
    },
  }
}

/** After this number of claims, a process deletes up to ten times as many expired keys. */
const evictionInterval = 100

const evictionOf = (table: string): string =>
  `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE expires_at <= clock_timestamp()
     ORDER BY expires_at LIMIT ${10 * evictionInterval} FOR UPDATE SKIP LOCKED)`

/** Two processes may create a table at once: one of them then gets one of these SQLSTATEs. */
const duplicate = /^(23505|42P07|42710)$/

async function ignoreRace(created: Promise<unknown>): Promise<void> {
  await created.catch((error) => {
    if (!duplicate.test(error?.code)) throw error
  })
}

/**
 * Creates a store of idempotency keys in PostgreSQL, which any number of instances can share. Each statement is a
 * transaction of its own; `transactionalPostgresKeys` gives the handler one that includes the key. Creates the table at
 * its first use if it is missing.
 *
 * @param pool `Pool` of the package pg, or `postgresJsPool` of the package postgres.
 */
export function postgresKeys(pool: PostgresQuery, options: PostgresKeyOptions = {}): KeyStore {
  const keys = keyTable(pool, options)
  const { table, limits } = keys
  const lease = [limits.lease, limits.retention] as const
  const claimed = `INSERT INTO ${table} AS held (id, fingerprint, token, leased_until, expires_at)
    VALUES ($1, $2, $3, ${after('$4')}, ${after('$5')})
    ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, token = excluded.token,
      leased_until = excluded.leased_until, expires_at = excluded.expires_at, response = NULL
    WHERE held.expires_at <= clock_timestamp() OR (held.response IS NULL
      AND held.leased_until <= clock_timestamp() AND held.fingerprint = excluded.fingerprint) RETURNING id`
  const takenOver = `UPDATE ${table} SET token = $3, leased_until = ${after('$4')}, expires_at = ${after('$5')}
    WHERE id = $1 AND fingerprint = $2 AND response IS NULL AND leased_until <= clock_timestamp() RETURNING id`
  const found = `SELECT fingerprint, response FROM ${table} WHERE id = $1`
  const completed = `UPDATE ${table} SET response = $3, expires_at = ${after('$4')} WHERE id = $1 AND token = $2
    RETURNING id`
  const removed = `DELETE FROM ${table} WHERE id = $1 AND token = $2 RETURNING id`
  return { claim }

  async function claim({ id, fingerprint }: KeyedRequest): Promise<ClaimOutcome> {
    const isFull = await keys.prepare()
    const token = randomBytes(12).toString('base64url')
    // Another instance may release the key between two statements.
    for (let attempt = 0; attempt < 3; attempt++) {
      const taken = await rowsOf(pool, isFull ? takenOver : claimed, [id, fingerprint, token, ...lease])
      if (taken.length > 0) return { state: 'claimed', claim: claimOf(id, token) }
      const [row] = await rowsOf<KeyRow>(pool, found, [id])
      if (row !== undefined && row.response !== null)
        return { state: 'completed', fingerprint: row.fingerprint, response: row.response }
      if (row !== undefined) return { state: 'running', fingerprint: row.fingerprint }
      if (isFull) return { state: 'full' }
    }
    throw new Error('the idempotency key changed with each statement; retry the request')
  }

  function claimOf(id: string, token: string): Claim {
    return {
      async complete({ response }) {
        if (response !== undefined) keys.add(response)
        const values = response === undefined ? [] : [response, limits.retention]
        const statement = response === undefined ? removed : completed
        return (await rowsOf(pool, statement, [id, token, ...values])).length > 0
      },
      async release() {
        await rowsOf(pool, removed, [id, token])
      },
    }
  }
}

/** Returns the statement that keeps a response in the transaction of its handler. */
export const keepStatement = (table: string): string =>
  `INSERT INTO ${table} (id, fingerprint, token, leased_until, expires_at, response)
     VALUES ($1, $2, '', clock_timestamp(), ${after('$3')}, $4)
     ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, token = excluded.token,
       leased_until = excluded.leased_until, expires_at = excluded.expires_at, response = excluded.response`
