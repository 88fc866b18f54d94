import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { httpRequest } from '../../../../test/support/http-request.ts'
import { openSocket } from '../../../../test/support/open-socket.ts'
import type { AnyErrorBody } from '../../src/serve/error-writer.ts'
import { type Served, serveDocument } from '../support/serve-document.ts'
import { calls, errorBody, failures, handlers, verifiers } from './problems/handlers.ts'

const document = parse(readFileSync('packages/fastify-contract/test/documents/problems/openapi.yaml', 'utf8'))

async function listening(t: Test, options: Served = {}): Promise<number> {
  const app = await serveDocument(document, { handlers: handlers as never, verifiers, errorBody, ...options })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

const type = 'application/problem+json; charset=utf-8'

t.test('every error over sockets has the documented shape', async (t) => {
  const port = await listening(t)
  for (const { request, headers, send, status, body, answer } of [...calls, ...failures]) {
    const [method, target] = request.split(' ')
    const json = send === undefined ? {} : { 'content-type': 'application/json' }
    const text = typeof send === 'string' ? send : JSON.stringify(send)
    const got = await httpRequest(`http://127.0.0.1:${port}${target}`, {
      method,
      headers: { ...json, ...headers },
      ...(send !== undefined && { body: text }),
    })
    t.equal(got.status, status, request)
    if (typeof body === 'string' || body instanceof RegExp) t.match(got.body, body, request)
    else t.match(JSON.parse(got.body), body, request)
    if (answer !== undefined) t.match(got.headers, answer, request)
  }
})

t.test('errors of malformed bytes have the documented shape', async (t) => {
  const port = await listening(t, { limits: { headers: 2_000 } })
  const long = `GET /pots/1 HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(3_000)}\r\n\r\n`
  const cases: [bytes: string, status: number, title: string][] = [
    [long, 431, 'Request Header Fields Too Large'],
    [`GET /pots/1 HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(20_000)}`, 431, 'Request Header Fields Too Large'],
    ['no request\r\n\r\n', 400, 'Bad Request'],
    ['GET /pots/1 HTTP/1.1\r\n\r\n', 400, 'Bad Request'],
    ['GET /pots/1 HTTP/1.1\r\nHost: a\r\nExpect: a\r\nConnection: close\r\n\r\n', 417, 'Expectation Failed'],
    ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'Method Not Allowed'],
  ]
  for (const [bytes, status, title] of cases) {
    const text = await (await openSocket(t, port, bytes)).closed()
    const [head = '', body = ''] = text.split('\r\n\r\n')
    t.match(head, `HTTP/1.1 ${status} `)
    t.match(head.toLowerCase(), `content-type: ${type}`, title)
    const id = /x-request-id: (.*)/i.exec(head)?.[1]
    t.match(JSON.parse(body), { type: 'about:blank', title, status, instance: `urn:request:${id}` })
  }
})

t.test('an error whose errorBody throws is sent as plain text with its status', async (t) => {
  const logged: string[] = []
  const logger = { level: 'error', stream: { write: (line: string) => logged.push(line) } }
  const failing: AnyErrorBody = ({ message }) => {
    throw new Error(`no body for ${message}`)
  }
  const port = await listening(t, { errorBody: failing, logger } as Served)
  const got = await httpRequest(`http://127.0.0.1:${port}/nothing`)
  t.match(got, {
    status: 404,
    body: 'no such path',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  })
  t.match(await (await openSocket(t, port, 'no request\r\n\r\n')).closed(), /^HTTP\/1.1 400 .*not well-formed HTTP$/s)
  t.match(logged[0], /no body for no such path.*errorBody failed/)
})

t.test('an error may be text, and of several media types', async (t) => {
  const mixed: AnyErrorBody = ({ statusCode, message }) =>
    statusCode === 404
      ? { contentType: 'text/html', body: `<p>${message}` }
      : { contentType: 'application/json', body: [message] }
  const port = await listening(t, { errorBody: mixed })
  for (const [target, contentType, body] of [
    ['/nothing', 'text/html; charset=utf-8', '<p>no such path'],
    ['/pots/x', 'application/json; charset=utf-8', '["path/id must be an int32 integer"]'],
    ['/nothing', 'text/html; charset=utf-8', '<p>no such path'],
  ]) {
    t.match(await httpRequest(`http://127.0.0.1:${port}${target}`), { body, headers: { 'content-type': contentType } })
  }
})
