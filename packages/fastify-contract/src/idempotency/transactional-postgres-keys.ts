import type { FastifyRequest } from 'fastify'
import type { Claim, ClaimOutcome, Completion, KeyedRequest, KeyStore } from './key-store.ts'
import { transactionOfRequest } from './keyed-request.ts'
import { type PostgresConnection, type PostgresPool, rowsOf } from './postgres-connection.ts'
import { keepStatement, keyTable, type PostgresKeyOptions } from './postgres-keys.ts'

/** A store whose handlers write in the transaction that keeps their response. */
export type TransactionalKeys<Connection> = KeyStore<Connection> & {
  /**
   * Returns the connection of a request, in the transaction that keeps its response. The handler neither commits nor
   * rolls it back. Undefined if the request has no key.
   */
  transactionOf(request: Pick<FastifyRequest, 'raw'>): Connection | undefined
}

/** SQLSTATE of a transaction in which a statement has failed, such as the INSERT of a row that exists. */
const isAborted = (error: unknown): boolean => (error as { code?: string }).code === '25P02'

/**
 * Creates a store of idempotency keys in PostgreSQL whose handlers write in the transaction of their key, so that the
 * key and the writes are committed together or not at all. An advisory lock of the transaction, which ends with its
 * connection, keeps other requests with the key away. All instances must use this store for its table.
 */
export function transactionalPostgresKeys<Connection extends PostgresConnection>(
  pool: PostgresPool<Connection>,
  options: PostgresKeyOptions = {},
): TransactionalKeys<Connection> {
  const keys = keyTable(pool, options)
  const { table, limits } = keys
  // An instance that stops in the middle keeps its lock no longer than the lease: the server ends its connection.
  const begin = `BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(limits.lease)}`
  const lock = 'SELECT pg_try_advisory_xact_lock($1::bigint) AS locked'
  const find = `SELECT fingerprint, response FROM ${table} WHERE id = $1 AND response IS NOT NULL
    AND expires_at > clock_timestamp()`
  const keep = keepStatement(table)
  return {
    async claim(request) {
      const isFull = await keys.prepare()
      const connection = await pool.connect()
      connection.on?.('error', ignore)
      try {
        await connection.query(begin)
        const outcome = await claimOn(connection, request, isFull)
        if (outcome.state !== 'claimed') await end(connection, 'ROLLBACK')
        return outcome
      } catch (error) {
        giveBack(connection, true)
        throw error
      }
    },
    transactionOf: (request) => transactionOfRequest(request.raw) as Connection | undefined,
  }

  async function claimOn(
    connection: Connection,
    request: KeyedRequest,
    isFull: boolean,
  ): Promise<ClaimOutcome<Connection>> {
    const [{ locked } = { locked: false }] = await rowsOf<{ locked: boolean }>(connection, lock, [lockOf(request)])
    if (!locked) return { state: 'running' }
    const [row] = await rowsOf<{ fingerprint: string; response: Uint8Array }>(connection, find, [request.id])
    if (row !== undefined) return { state: 'completed', ...row }
    if (isFull) return { state: 'full' }
    await connection.query('SAVEPOINT handler')
    return { state: 'claimed', claim: claimOf(connection, request) }
  }

  function claimOf(connection: Connection, request: KeyedRequest): Claim<Connection> {
    return {
      transaction: connection,
      async complete({ status, response }) {
        await settle(connection, async function commit() {
          // Fails if a statement of the handler has failed. COMMIT would then roll back without an error.
          if (response === undefined) await connection.query('RELEASE SAVEPOINT handler')
          else {
            keys.add(response)
            await keepResponse(connection, request, { status, response })
          }
          await end(connection, 'COMMIT')
        })
        return true
      },
      async release() {
        await settle(connection, () => end(connection, 'ROLLBACK'))
      },
    }
  }

  /** Keeps a response. If a statement of the handler has failed, keeps only that of an error: its writes are undone. */
  async function keepResponse(
    connection: Connection,
    { id, fingerprint }: KeyedRequest,
    { status, response }: Completion,
  ) {
    const values = [id, fingerprint, limits.retention, response]
    await rowsOf(connection, keep, values).catch(async function keepError(error) {
      if (!isAborted(error) || status < 400) throw error
      await connection.query('ROLLBACK TO SAVEPOINT handler')
      await rowsOf(connection, keep, values)
    })
  }
}

/** Ends the transaction of a connection, and gives the connection back. */
async function end(connection: PostgresConnection, statement: 'COMMIT' | 'ROLLBACK'): Promise<void> {
  await connection.query(statement)
  giveBack(connection)
}

/** Returns a connection to its pool, or closes it, so that the server rolls its transaction back. */
function giveBack(connection: PostgresConnection, destroy = false): void {
  connection.off?.('error', ignore)
  // The error of a lost connection may come later than that of its statement.
  if (destroy) connection.on?.('error', ignore)
  connection.release(destroy)
}

const ignore = () => {}

/** Runs the end of a transaction. Closes the connection if that fails, so that no lock remains. */
async function settle(connection: PostgresConnection, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    giveBack(connection, true)
    throw error
  }
}

/** Returns the number of the advisory lock of a key: 64 bits of its digest. */
const lockOf = ({ id }: KeyedRequest): string => String(Buffer.from(id, 'base64url').readBigInt64BE())
