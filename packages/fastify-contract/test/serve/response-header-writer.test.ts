import type { AddressInfo } from 'node:net'
import t from 'tap'
import { httpRequest } from '../../../../test/support/http-request.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { serveDocument } from '../support/serve-document.ts'

const text = { type: 'string' }
const document = {
  openapi: '3.1.0',
  info: { title: 'Headers', version: '1' },
  paths: {
    '/a': {
      get: {
        operationId: 'a',
        responses: {
          200: {
            headers: {
              'X-Total': { required: true, schema: { type: 'integer', format: 'int64' } },
              ETag: { schema: text },
              Vary: { schema: text },
            },
            content: { 'application/json': { schema: { type: 'integer' } } },
          },
          204: { headers: { 'X-Request-Id': { required: true, schema: text } } },
        },
      },
    },
  },
} as unknown as Document

const serve = (outcome: object, more: object = {}) =>
  serveDocument(document, { handlers: { a: async () => outcome as never }, ...more })

t.test('a missing, undeclared or invalid response header becomes a 500', async (t) => {
  const total = { 'X-Total': 1n }
  const wrong: Record<string, object> = {
    'a required header is missing': { headers: { ETag: 'a' } },
    'no headers': {},
    'another type': { headers: { 'X-Total': 'one' } },
    'no int64': { headers: { 'X-Total': 2n ** 63n } },
    'a header that is not declared': { headers: { ...total, 'X-Other': 'a' } },
    'a header of the service': { headers: { ...total, 'X-Request-Id': 'a' } },
    'an inherited header': { headers: Object.create(total) },
    'a line end in a header': { headers: { ...total, ETag: 'a\r\nX-Evil: b' } },
    'a wrong body beside right headers': { headers: { ...total, ETag: 'a' }, body: 'one' },
    'headers of a response without any': { status: 204, headers: {}, body: undefined },
  }
  for (const [name, outcome] of Object.entries(wrong)) {
    const app = await serve({ status: 200, body: 1, ...outcome })
    const { statusCode, headers, json } = await app.inject('/a')
    t.equal(statusCode, 500, name)
    t.match(json(), { error: 50000 })
    t.same([headers.etag, headers['x-total'], headers['x-evil']], [undefined, undefined, undefined], name)
  }
})

t.test('the Vary of CORS and of a handler are combined', async (t) => {
  const headers = { 'X-Total': 2n, Vary: 'Cookie', ETag: undefined }
  const app = await serve({ status: 200, headers, body: 1 }, { origins: ['https://app.example'] })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const answer = await httpRequest(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/a`)
  t.match(answer, { status: 200, headers: { vary: 'Origin, Cookie', 'x-total': '2' } })
  t.equal(answer.headers.etag, undefined)
})
