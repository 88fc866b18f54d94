import t from 'tap'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileDocument } from '../../src/emit/compile.ts'
import { mockServer } from '../../src/mock/mock-server.ts'

const json = { 'application/json': { schema: { type: 'object' }, example: { id: 7 } } }

const document = {
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1' },
  paths: {
    '/orders': {
      post: {
        operationId: 'createOrder',
        parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }],
        requestBody: { required: true, content: json },
        responses: { 201: { description: 'Created.', content: json }, default: { description: 'a', content: json } },
      },
    },
  },
} as unknown as Document

const { contract } = await compileDocument(document, 'orders.yaml')

t.test(
  'the mock replays the response to a repeated key, rejects it for other content, and requires a key',
  async (t) => {
    const { app } = mockServer(contract, () => ({ contentType: 'application/json', body: {} }), {})
    t.teardown(() => app.close())
    const send = async (key: string | undefined, payload: object) => {
      const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) }
      const response = await app.inject({ method: 'POST', url: '/orders', headers, payload: JSON.stringify(payload) })
      return [response.statusCode, response.body, response.headers['idempotent-replayed']]
    }
    t.same(await send('k', { a: 1 }), [201, '{"id":7}', undefined])
    t.same(await send('k', { a: 1 }), [201, '{"id":7}', 'true'])
    t.equal((await send('k', { a: 2 }))[0], 422)
    t.same(await send('other', { a: 2 }), [201, '{"id":7}', undefined])
    t.equal((await send(undefined, { a: 1 }))[0], 400)
  },
)
