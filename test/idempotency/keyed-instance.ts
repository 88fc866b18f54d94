import { createServer, type Routes } from 'fastify-contract'
import { postgresKeys, transactionalPostgresKeys } from 'fastify-contract/idempotency'
import pg from 'pg'

/*
 * A service that creates orders with idempotency keys, for tests that kill it: JSON in KEYED_INSTANCE has its routes, its
 * port, the URL of its database, the lease, and whether a handler writes in the transaction of its key.
 */

type Settings = { routes: Routes; port: number; url: string; lease: number; isTransactional: boolean }

const { routes, port, url, lease, isTransactional }: Settings = JSON.parse(String(process.env.KEYED_INSTANCE))

const pool = new pg.Pool({ connectionString: url, max: 20, connectionTimeoutMillis: 3_000 })
pool.on('error', () => {})
const keys = transactionalPostgresKeys(pool, { lease })

const app = createServer({
  contract: { routes },
  handlers: {
    async createOrder({ body }: { body: { reference: string } }, request: never) {
      const connection = isTransactional ? (keys.transactionOf(request) as pg.PoolClient) : pool
      const insert = 'INSERT INTO orders (reference) VALUES ($1) RETURNING id'
      const { rows } = await connection.query(insert, [body.reference])
      return { status: 201, body: { id: BigInt(rows[0].id), reference: body.reference } }
    },
  },
  verifiers: {},
  errorBody: ({ error, message }) => ({ contentType: 'application/json', body: { error, message } }),
  idempotency: { store: isTransactional ? keys : postgresKeys(pool, { lease }), storeTime: 3_000 },
})
await app.listen({ host: '127.0.0.1', port })
process.send?.('listening')
// The parent has ended.
process.on('disconnect', () => process.exit())
