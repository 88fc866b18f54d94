import { setTimeout as sleep } from 'node:timers/promises'
import {
  type KeyStore,
  postgresKeys,
  sqliteKeys,
  type TransactionalKeys,
  transactionalPostgresKeys,
} from 'fastify-contract/idempotency'
import pg from 'pg'
import { query } from '../../scripts/postgres/temporary-postgres.ts'
import { loadDriver } from '../../src/store/sqlite/sqlite-driver.ts'

/** Where a process of the tests is killed by its own hand. */
export type KillPoint = 'before the write' | 'after the write' | 'while the response is stored' | 'after it is stored'

export type OrderSettings = {
  /** The URL of a PostgreSQL database, or `sqlite:` with the path of a file. */
  url: string
  lease: number
  /** Whether a handler writes in the transaction of its key. */
  isTransactional: boolean
  killAt?: KillPoint
}

/** The orders of a service and its keys. */
export type Orders = { store: KeyStore; insert(reference: string, request: never): Promise<bigint> }

export const openOrders = (settings: OrderSettings): Orders =>
  settings.url.startsWith('sqlite:') ? sqliteOrders(settings) : postgresOrders(settings)

function postgresOrders({ url, lease, isTransactional }: OrderSettings): Orders {
  const pool = new pg.Pool({ connectionString: url, max: 20, connectionTimeoutMillis: 3_000 })
  pool.on('error', () => {})
  const keys: TransactionalKeys<pg.PoolClient> = transactionalPostgresKeys(pool, { lease })
  return {
    store: isTransactional ? keys : postgresKeys(pool, { lease }),
    async insert(reference, request) {
      const connection = isTransactional ? (keys.transactionOf(request) as pg.PoolClient) : pool
      const { rows } = await connection.query('INSERT INTO orders (reference) VALUES ($1) RETURNING id', [reference])
      return BigInt(rows[0].id)
    },
  }
}

/** Opens a SQLite file as the page of the keys says. */
export function openSqlite(url: string) {
  const { DatabaseSync } = loadDriver()
  const database = new DatabaseSync(url.replace('sqlite:', ''), { timeout: 5_000 })
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  return database
}

function sqliteOrders({ url, lease, killAt }: OrderSettings): Orders {
  const database = openSqlite(url)
  const store = sqliteKeys(database as never, { lease })
  const insert = database.prepare('INSERT INTO orders (reference) VALUES (?) RETURNING id')
  const kill = () => process.kill(process.pid, 'SIGKILL')
  if (killAt === 'while the response is stored') {
    const { function: define } = database as unknown as { function(name: string, run: () => number): void }
    define.call(database, 'kill_process', () => Number(kill()))
    // The row has the response, and the transaction is not committed.
    database.exec(`CREATE TEMP TRIGGER kill_while_stored AFTER UPDATE OF response ON main.idempotency_keys
      BEGIN SELECT kill_process(); END`)
  }
  return {
    store: killAt === 'after it is stored' ? killedAfter(store, kill) : store,
    async insert(reference) {
      if (killAt === 'before the write') kill()
      const { id } = insert.get(reference) as { id: number }
      if (killAt === 'after the write') kill()
      return BigInt(id)
    },
  }
}

/** Returns a store that kills the process when a response is kept, before it is sent. */
const killedAfter = ({ claim }: KeyStore, kill: () => void): KeyStore => ({
  async claim(request) {
    const outcome = await claim(request)
    if (outcome.state !== 'claimed') return outcome
    const { complete } = outcome.claim
    outcome.claim.complete = async (completion) => {
      await complete(completion)
      kill()
      return await sleep(60_000, true)
    }
    return outcome
  },
})

/** Creates the empty table of the orders. */
export async function createOrders(url: string): Promise<void> {
  if (!url.startsWith('sqlite:')) await query(url, 'CREATE TABLE orders (id bigserial, reference text NOT NULL)')
  else {
    const database = openSqlite(url)
    database.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY, reference TEXT NOT NULL)')
    database.close()
  }
}

/** Returns the ids of the orders by reference. */
export async function orderIds(url: string): Promise<Map<string, string[]>> {
  const select = 'SELECT reference, CAST(id AS text) AS id FROM orders ORDER BY orders.id'
  const rows = (url.startsWith('sqlite:') ? openSqlite(url).prepare(select).all() : await query(url, select)) as {
    reference: string
    id: string
  }[]
  const ids = new Map<string, string[]>()
  for (const { reference, id } of rows) ids.set(reference, [...(ids.get(reference) ?? []), id])
  return ids
}
