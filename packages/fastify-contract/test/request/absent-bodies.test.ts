import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Document } from 'fastify-contract-cli/testing'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { serveDocument } from '../support/serve-document.ts'

const object = { type: 'object', properties: { a: { type: 'integer' } } }
const contents = {
  json: { 'application/json': { schema: object } },
  nullable: { 'application/json': { schema: { type: ['object', 'null'] } } },
  text: { 'text/plain': { schema: { type: 'string' } } },
  form: { 'application/x-www-form-urlencoded': { schema: object } },
  parts: { 'multipart/form-data': { schema: object } },
  bytes: { 'image/png': {} },
  lines: { 'application/jsonl': { schema: object } },
  range: { 'image/*': {} },
  several: { 'application/json': { schema: object }, 'text/plain': { schema: { type: 'string' } } },
  typed: { 'application/json;v=1': { schema: object } },
}
type Name = keyof typeof contents
const names = Object.keys(contents) as Name[]
const responses = { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } }
const encoding = { name: 'Content-Encoding', in: 'header', schema: { type: 'string' } }
const paths = Object.fromEntries(
  names.flatMap((name) => [
    [`/${name}`, { post: { operationId: name, requestBody: { content: contents[name] }, responses } }],
    [
      `/${name}/required`,
      { post: { operationId: `${name}Required`, requestBody: { required: true, content: contents[name] }, responses } },
    ],
    [
      `/${name}/coded`,
      {
        post: {
          operationId: `${name}Coded`,
          parameters: [encoding],
          requestBody: { content: contents[name] },
          responses,
        },
      },
    ],
  ]),
)
const none = Object.fromEntries(
  ['delete', 'post', 'options', 'get'].map((method) => [method, { operationId: `${method}None`, responses }]),
)
const document = {
  openapi: '3.1.0',
  info: { title: 'Bodies', version: '1.0.0' },
  paths: { ...paths, '/none': none },
} as unknown as Document

/** Serves the document. Returns a function that sends texts on one connection and resolves to statuses and bodies. */
async function serve(t: Test) {
  const handler: unknown = async ({ body }: { body: unknown }) => {
    if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body))
      return { status: 200, body: body === undefined ? 'absent' : { body } }
    const chunks: unknown[] = []
    for await (const chunk of body as AsyncIterable<unknown>)
      chunks.push(Buffer.isBuffer(chunk) ? String(chunk) : chunk)
    return { status: 200, body: { chunks } }
  }
  const ids = [
    ...names.flatMap((name) => [name, `${name}Required`, `${name}Coded`]),
    ...Object.values(none).map((one) => one.operationId),
  ]
  const app = await serveDocument(document, {
    handlers: Object.fromEntries(ids.map((id) => [id, handler as AnyHandler])),
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return async (...requests: string[]): Promise<[number, unknown][]> => {
    // The last request closes the connection.
    const { closed } = await openSocket(t, port, requests.join(''))
    const text = await closed()
    return Array.from(
      text.matchAll(/HTTP\/1\.1 (\d+) .*?\r\n\r\n([^\r\n]*?)(?=HTTP\/1\.1 |$)/gs),
      ([, status, body]) => [Number(status), body === '' ? undefined : JSON.parse(body as string)],
    )
  }
}

const request = (line: string, headers: string[], body = '', version = '1.1') =>
  `${line} HTTP/${version}\r\n${['Host: a', ...headers].join('\r\n')}\r\n\r\n${body}`
const close = 'Connection: close'

const types: Record<Name, string> = {
  json: 'application/json',
  nullable: 'application/json; charset=utf-8',
  text: 'text/plain',
  form: 'application/x-www-form-urlencoded',
  parts: 'multipart/form-data; boundary=b',
  bytes: 'image/png',
  lines: 'application/jsonl',
  range: 'image/gif',
  several: 'application/json',
  typed: 'application/json;v=1',
}
const sentTypes = [...Object.values(types), 'application/xml', 'null', '', 'nonsense;;']

/** The ways to send no content: the headers and the bytes of the body. */
const framings: [name: string, headers: string[], body: string][] = [
  ['no length', [], ''],
  ['length 0', ['Content-Length: 0'], ''],
  ['an empty chunked body', ['Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['an empty chunked body with a trailer', ['Transfer-Encoding: chunked'], '0\r\nX-T: 1\r\n\r\n'],
]

t.test('a request without content has no body, whatever its Content-Type, where the operation has none', async (t) => {
  const send = await serve(t)
  for (const method of ['DELETE', 'POST', 'OPTIONS', 'GET'])
    for (const [name, framing, body] of framings)
      for (const type of sentTypes) {
        const headers = [`Content-Type: ${type}`, 'Content-Encoding: gzip', ...framing]
        const line = `${method} /none`
        // Pipelined, to show that the next request begins where this one ends.
        const answers = await send(request(line, headers, body), request(line, [...headers, close], body))
        t.same(
          answers,
          [
            [200, 'absent'],
            [200, 'absent'],
          ],
          `${method}, ${type}, ${name}`,
        )
      }
})

t.test('a request without content has no body, whatever its Content-Type, where the body is optional', async (t) => {
  const send = await serve(t)
  for (const name of names)
    for (const [what, framing, body] of framings)
      for (const type of sentTypes) {
        const headers = [`Content-Type: ${type}`, ...framing]
        const answers = await send(
          request(`POST /${name}`, [...headers, 'Content-Encoding: gzip'], body),
          request(`POST /${name}`, [...headers, close], body),
        )
        const isOwn =
          type.split(';')[0] === types[name].split(';')[0] || (name === 'range' && type.startsWith('image/'))
        const isChunked = what.includes('chunked')
        const isStream = ['bytes', 'lines', 'range'].includes(name) && isOwn && what !== 'no length'
        const isForm = name === 'parts' && isChunked && type === types.parts
        const last = isStream || isForm ? { chunks: [] } : 'absent'
        t.same(
          answers,
          [
            [200, 'absent'],
            [200, last],
          ],
          `${name}, ${type}, ${what}`,
        )
      }
})

t.test('content of another media type is rejected, also in chunks', async (t) => {
  const send = await serve(t)
  for (const path of ['/none', '/json', '/parts', '/bytes'])
    for (const [framing, body] of [
      ['Content-Length: 1', 'a'],
      ['Transfer-Encoding: chunked', '1\r\na\r\n0\r\n\r\n'],
    ] as const) {
      const answers = await send(request(`POST ${path}`, ['Content-Type: text/csv', framing, close], body))
      t.match(answers, [[415, { error: 41500 }]], `${path} ${framing}`)
      const coded = ['Content-Type: application/json', 'Content-Encoding: gzip', framing, close]
      const other = await send(request('POST /json', coded, body))
      t.match(other, [[415, { error: 41501 }]], `${path} ${framing}`)
    }
  const expecting = ['Content-Type: text/csv', 'Transfer-Encoding: chunked', 'Expect: 100-continue', close]
  t.match(await send(request('POST /json', expecting)), [[415]], 'a client that waits is not kept waiting')
})

t.test('a missing required body gets 400, and empty text, an empty form and an empty stream are a body', async (t) => {
  const send = await serve(t)
  const missing = (name: Name) => [
    400,
    { error: /json(;|$)/.test(types[name]) ? 40002 : 40003, message: 'the body is missing' },
  ]
  const empty: Partial<Record<Name, unknown>> = {
    text: { body: '' },
    form: { body: {} },
    bytes: { chunks: [] },
    lines: { chunks: [] },
    range: { chunks: [] },
  }
  for (const name of names)
    for (const [what, framing, body] of framings) {
      const headers = [`Content-Type: ${types[name]}`, ...framing, close]
      const [answer] = await send(request(`POST /${name}/required`, headers, body))
      const isNeeded = what === 'no length' && name !== 'form' && name !== 'text'
      t.same(answer, empty[name] === undefined || isNeeded ? missing(name) : [200, empty[name]], `${name}, ${what}`)
    }
})

t.test('HTTP/1.0 has no body without a length', async (t) => {
  const send = await serve(t)
  for (const framing of [[], ['Content-Length: 0']]) {
    const headers = ['Content-Type: application/json', ...framing]
    t.same(await send(request('POST /json', headers, '', '1.0')), [[200, 'absent']])
    t.same(await send(request('DELETE /none', headers, '', '1.0')), [[200, 'absent']])
  }
})

t.test('null is an absent body where it is optional and its schema rejects null', async (t) => {
  const send = await serve(t)
  const post = async (path: string) =>
    await send(
      request(
        `POST ${path}`,
        [`Content-Type: application/json${path.startsWith('/typed') ? ';v=1' : ''}`, 'Content-Length: 4', close],
        'null',
      ),
    )
  t.same(await post('/json'), [[200, 'absent']])
  t.same(await post('/several'), [[200, 'absent']])
  t.same(await post('/typed'), [[200, 'absent']])
  t.same(await post('/nullable'), [[200, { body: null }]])
  t.same(await post('/nullable/required'), [[200, { body: null }]])
  for (const path of ['/json/required', '/several/required', '/typed/required'])
    t.match(await post(path), [[400, { error: 40003 }]])
})

t.test('a declared Content-Encoding is for the handler', async (t) => {
  const send = await serve(t)
  const post = async (name: Name, body: string) =>
    await send(
      request(
        `POST /${name}/coded`,
        [`Content-Type: ${types[name]}`, 'Content-Encoding: gzip', `Content-Length: ${body.length}`, close],
        body,
      ),
    )
  t.same(await post('bytes', 'zipped'), [[200, { chunks: ['zipped'] }]])
  t.same(await post('range', 'zipped'), [[200, { chunks: ['zipped'] }]])
  t.same(await post('text', 'zipped'), [[200, { body: 'zipped' }]])
  t.same(await post('json', '{"a":1}'), [[200, { body: { a: 1 } }]])
  t.match(await post('json', 'zipped'), [[400, { error: 40002 }]])
  t.same(await post('bytes', ''), [[200, { chunks: [] }]])
})

t.test('a form whose client has disconnected fails when it is read', async (t) => {
  let outcome: unknown
  const handler: unknown = async ({ body, signal }: { body: AsyncIterable<unknown>; signal: AbortSignal }) => {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    try {
      for await (const _ of body);
      outcome = 'read'
    } catch (error) {
      outcome = error
    }
    return { status: 200, body: {} }
  }
  const paths = { '/parts': { post: { operationId: 'parts', requestBody: { content: contents.parts }, responses } } }
  const app = await serveDocument({ ...document, paths } as unknown as Document, {
    handlers: { parts: handler as AnyHandler },
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const received = once(app.server, 'request')
  const { socket } = await openSocket(
    t,
    port,
    request('POST /parts', [`Content-Type: ${types.parts}`, 'Content-Length: 100'], '--b'),
  )
  await received
  socket.destroy()
  await until(() => outcome !== undefined, 'the outcome')
  t.match(outcome, { message: 'the body is incomplete' })
})
