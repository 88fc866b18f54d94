import type { AddressInfo } from 'node:net'
import t from 'tap'
import { httpRequest } from '../../../../test/support/http-request.ts'
import { serveDocument } from '../support/serve-document.ts'

const text = { type: 'string' }
const parameters = ['X-Trace', 'x-request-id'].map((name) => ({ name, in: 'header', schema: text }))
const headers = Object.fromEntries(['X-Total', 'retry-after'].map((name) => [name, { schema: text }]))
const responses = { 204: { description: 'nothing', headers } }

const document = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1.0.0' },
  paths: {
    '/things': {
      get: { operationId: 'listThings', security: [{}, { key: [], cookie: [] }], parameters, responses },
      put: { operationId: 'putThings', responses },
    },
    '/others': { put: { operationId: 'putOthers', parameters, responses } },
  },
  components: {
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      cookie: { type: 'apiKey', in: 'cookie', name: 'X-Cookie' },
      unused: { type: 'apiKey', in: 'header', name: 'X-Unused' },
    },
  },
}

t.test('a preflight request allows the methods and headers of the document, also under overload', async (t) => {
  const handler = async () => ({ status: 204, body: undefined })
  const app = await serveDocument(document, {
    handlers: { listThings: handler, putThings: handler, putOthers: handler },
    verifiers: { key: (_request, done) => done(), cookie: (_request, done) => done() },
    origins: ['https://app.example'],
    limits: { inFlight: 0 },
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const origin = 'https://app.example'
  for (const path of ['/things', '/nowhere']) {
    const asks = { origin, 'access-control-request-method': 'PUT' }
    const { status, headers } = await httpRequest(`${url}${path}`, { method: 'OPTIONS', headers: asks })
    t.equal(status, 204)
    t.equal(headers['access-control-allow-methods'], 'GET, PUT')
    t.equal(
      headers['access-control-allow-headers'],
      'Authorization, Content-Type, Traceparent, Tracestate, X-Key, X-Request-Id, X-Trace',
    )
  }
  const { status, headers } = await httpRequest(`${url}/things`, { headers: { origin } })
  t.equal(status, 503)
  t.equal(
    headers['access-control-expose-headers'],
    'Accept, Allow, Retry-After, WWW-Authenticate, X-Request-Id, X-Total',
  )
})
