import { randomBytes } from 'node:crypto'
import {
  type Claim,
  type ClaimOutcome,
  type KeyedRequest,
  type KeyLimits,
  type KeyStore,
  keyLimits,
} from './key-store.ts'
import { tableName } from './key-table.ts'
import { createTable, type SqliteKeyDatabase } from './sqlite-key-table.ts'

export type SqliteKeyOptions = Partial<KeyLimits> & {
  /** Default: idempotency_keys. */
  table?: string
  /** Returns the time in milliseconds, which all processes that share the file agree on; default: Date.now. */
  now?: () => number
}

type Row = { fingerprint: string; response: Uint8Array | null }

/**
 * Creates a store of idempotency keys in a SQLite database, which processes of one machine can share. Creates the table
 * if it is missing. Its statements run in this thread, each in a transaction of its own, so do not call it while the
 * connection has a transaction of the application open.
 */
export function sqliteKeys(database: SqliteKeyDatabase, options: SqliteKeyOptions = {}): KeyStore {
  const { table: given, now = Date.now, ...givenLimits } = options
  const table = tableName(given)
  const limits = keyLimits(givenLimits)
  createTable(database, table)
  const statements = prepareStatements(database, table)
  const claim = ({ id, fingerprint }: KeyedRequest): ClaimOutcome => {
    const time = now()
    const token = randomBytes(12).toString('base64url')
    statements.evict.run(time)
    const { keys, bytes } = statements.size.get() as { keys: number; bytes: number }
    const isFull = keys >= limits.keys || bytes >= limits.bytes
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
    // @photostructure/sqlite closes a database that is collected as garbage, although its statements are in use.
    database,
    evict: database.prepare(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE expires_at <= ? ORDER BY expires_at LIMIT 10)`,
    ),
    size: database.prepare(`SELECT keys, bytes FROM ${table}_size`),
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
