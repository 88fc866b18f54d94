import type { ErrorBody } from 'fastify-contract'
import { type Call, refused } from '../served-documents.ts'
import type { operations } from './api.d.ts'
import type { Handlers } from './handler-types.d.ts'

export const handlers: Handlers = {
  listOrders: async ({ query }) => ({ status: 200, body: query.limit === 1 ? [{ id: 9007199254740993n }] : [] }),
  async addOrder({ body }) {
    const lines: number = body.lines.length
    const coupon: string | undefined = body.coupon
    if (coupon === 'none' && lines === 0) throw new Error('nothing to add')
    return { status: 204, body: undefined }
  },
  async getOrder({ path }) {
    const id: bigint = path['order-id']
    if (id === 404n) return { status: 404, body: { title: 'no such order' } }
    return { status: 200, body: { id, lines: [{ amount: 1n, order: { id } }] } }
  },
  listArchive: async () => ({ status: 200, body: [] }),
}

const post = (send: unknown) => ({ request: 'POST /orders', send })

/** Returns each error of the service as a problem. */
export const errorBody: ErrorBody<operations> = ({ error, message }) => ({
  contentType: 'application/problem+json',
  body: { title: message, error },
})

export const calls: Call[] = [
  { request: 'GET /orders?limit=1', body: '[{"id":9007199254740993}]' },
  { request: 'GET /orders?limit=0', ...refused },
  { request: 'GET /archive', body: '[]' },
  { request: 'GET /orders/7', body: '{"id":7,"lines":[{"amount":1,"order":{"id":7}}]}' },
  { request: 'GET /orders/404', status: 404, body: '{"title":"no such order"}' },
  { request: 'GET /orders/0', ...refused },
  { ...post({ id: 1, lines: [{ amount: 100 }], coupon: 'c' }), status: 204 },
  { ...post({ id: 1 }), ...refused },
  { ...post({ id: 1, lines: [], coupon: 1 }), ...refused },
  { ...post({ id: 1, lines: [{ amount: 101 }] }), ...refused },
  { ...post({ id: 1, lines: [{ amount: 1, order: { id: 0 } }] }), ...refused },
  { request: 'DELETE /archive', status: 405, error: 40500, answer: { allow: 'GET, HEAD' } },
]
