import { createServer, type Routes } from 'fastify-contract'
import { type OrderSettings, openOrders } from './orders.ts'

/*
 * A service that creates orders with idempotency keys, for tests that kill it: JSON in KEYED_INSTANCE has its routes, its
 * port, and where its orders are.
 */

const { routes, port, ...settings }: OrderSettings & { routes: Routes; port: number } = JSON.parse(
  String(process.env.KEYED_INSTANCE),
)

const { store, insert } = openOrders(settings)

const app = createServer({
  contract: { routes },
  handlers: {
    async createOrder({ body: { reference } }: { body: { reference: string } }, request: never) {
      return { status: 201, body: { id: await insert(reference, request), reference } }
    },
  },
  verifiers: {},
  errorBody: ({ error, message }) => ({ contentType: 'application/json', body: { error, message } }),
  idempotency: { store, storeTime: 3_000 },
})
await app.listen({ host: '127.0.0.1', port })
process.send?.('listening')
// The parent has ended.
process.on('disconnect', () => process.exit())
