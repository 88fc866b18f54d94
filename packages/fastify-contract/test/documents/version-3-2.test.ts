import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { httpRequest } from '../../../../test/support/http-request.ts'
import { serveDocument } from '../support/serve-document.ts'
import { calls, handlers, verifiers } from './version-3-2/handlers.ts'

const document = parse(readFileSync('packages/fastify-contract/test/documents/version-3-2/openapi.yaml', 'utf8'))

t.test('features of OpenAPI 3.2 are served over sockets', async (t) => {
  const app = await serveDocument(document, { handlers: handlers as never, verifiers })
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  for (const { request, send, headers, status, error, body, answer = {} } of calls) {
    const [method = '', path = ''] = request.split(' ')
    const type = send === undefined ? {} : { 'content-type': 'application/json' }
    const given = await httpRequest(url + path, {
      method,
      headers: { ...type, ...headers },
      ...(send !== undefined && { body: JSON.stringify(send) }),
    })
    t.equal(given.status, status, `${request} ${JSON.stringify(send)} ${given.body}`)
    if (error !== undefined) t.match(JSON.parse(given.body), { error })
    if (body instanceof RegExp) t.match(given.body, body)
    else if (body !== undefined) t.equal(given.body, body)
    t.match(given.headers, answer)
  }
})
