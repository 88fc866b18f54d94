import { randomBytes } from 'node:crypto'
import {
  type Claim,
  type ClaimOutcome,
  type KeyedRequest,
  type KeyLimits,
  type KeyStore,
  keyLimits,
} from './key-store.ts'
import { sizeMeter, tableName } from './key-table.ts'

type Statement = {
  get(...values: unknown[]): unknown
  run(...values: unknown[]): { changes: number | bigint }
}

/** A database of `node:sqlite`, `@photostructure/sqlite` or `better-sqlite3`. */
export type SqliteKeyDatabase = { exec(sql: string): unknown; prepare(sql: string): Statement }

export type SqliteKeyOptions = Partial<KeyLimits> & {
  /** Default: idempotency_keys. */
  table?: string
  /** Returns the time in milliseconds, which all processes that share the file agree on; default: Date.now. */
  now?: () => number
}

type Row = { fingerprint: string; response: Uint8Array | null }

const columns = `id TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  token TEXT NOT NULL,
  leased_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  response BLOB`

/**
 * Creates a store of idempotency keys in a SQLite database, which processes of one machine can share. Creates the table
 * if it is missing. Its statements run in this thread, each in a transaction of its own, so do not call it while the
 * connection has a transaction of the application open.
 */
export function sqliteKeys(database: SqliteKeyDatabase, options: SqliteKeyOptions = {}): KeyStore {
  const { table: given, now = Date.now, ...givenLimits } = options
  const table = tableName(given)
  const limits = keyLimits(givenLimits)
  database.exec(
    `CREATE TABLE IF NOT EXISTS ${table} (${columns}) WITHOUT ROWID;
     CREATE INDEX IF NOT EXISTS ${table}_expiry ON ${table} (expires_at)`,
  )
  const statements = prepareStatements(database, table)
  let isFull = false
  const meter = sizeMeter(limits, function measureTable() {
    const { keys, bytes } = statements.size.get() as { keys: number; bytes: number }
    isFull = keys >= limits.keys || bytes >= limits.bytes
  })
  const claim = ({ id, fingerprint }: KeyedRequest): ClaimOutcome => {
    const time = now()
    const token = randomBytes(12).toString('base64url')
    statements.evict.run(time)
    meter.measure(isFull)
    const lease = [time + limits.lease, time + limits.retention]
    // Another process may have released the key between two statements.
    for (let attempt = 0; attempt < 3; attempt++) {
      const taken = isFull
        ? statements.takeOver.get(token, ...lease, id, time, fingerprint)
        : statements.claim.get(id, fingerprint, token, ...lease, time, time)
      if (taken) return { state: 'claimed', claim: claimOf(id, token) }
      const row = statements.find.get(id) as Row | undefined
      if (row !== undefined && row.response !== null)
        return { state: 'completed', fingerprint: row.fingerprint, response: row.response }
      if (row !== undefined) return { state: 'running', fingerprint: row.fingerprint }
      if (isFull) return { state: 'full' }
    }
    throw new Error('the idempotency key changed with each statement; retry the request')
  }
  return { claim: async (request) => claim(request) }

  function claimOf(id: string, token: string): Claim {
    return {
      async complete({ response }) {
        if (response === undefined) return changed(statements.remove.run(id, token))
        meter.add(response)
        return changed(statements.complete.run(response, now() + limits.retention, id, token))
      },
      async release() {
        statements.remove.run(id, token)
      },
    }
  }
}

const changed = ({ changes }: { changes: number | bigint }): boolean => Number(changes) > 0

/** An expired key is free. A key whose lease ran out is free for the same content only. */
const isFree = (table: string): string =>
  `(${table}.expires_at <= ? OR (${table}.response IS NULL AND ${table}.leased_until <= ?
     AND ${table}.fingerprint = excluded.fingerprint))`

/** Prepares the statements. The number of expired keys that one claim deletes exceeds the one that it may add. */
function prepareStatements(database: SqliteKeyDatabase, table: string) {
  return {
    evict: database.prepare(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE expires_at <= ? ORDER BY expires_at LIMIT 10)`,
    ),
    size: database.prepare(`SELECT count(*) AS keys, coalesce(sum(length(response)), 0) AS bytes FROM ${table}`),
    claim: database.prepare(
      `INSERT INTO ${table} (id, fingerprint, token, leased_until, expires_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, token = excluded.token,
         leased_until = excluded.leased_until, expires_at = excluded.expires_at, response = NULL
       WHERE ${isFree(table)} RETURNING id`,
    ),
    takeOver: database.prepare(
      `UPDATE ${table} SET token = ?, leased_until = ?, expires_at = ?
       WHERE id = ? AND response IS NULL AND leased_until <= ? AND fingerprint = ? RETURNING id`,
    ),
    find: database.prepare(`SELECT fingerprint, response FROM ${table} WHERE id = ?`),
    complete: database.prepare(`UPDATE ${table} SET response = ?, expires_at = ? WHERE id = ? AND token = ?`),
    remove: database.prepare(`DELETE FROM ${table} WHERE id = ? AND token = ?`),
  }
}
