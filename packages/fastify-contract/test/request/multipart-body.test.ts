import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Document } from 'fastify-contract-cli/testing'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { bodyMemory } from '../../src/http/body-memory.ts'
import type { ByteSource } from '../../src/http/upload.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { type Served, serveDocument } from '../support/serve-document.ts'

/** Returns a document with an operation that takes this request body. */
const documentOf = (requestBody: object) =>
  ({
    openapi: '3.1.0',
    info: { title: 'Parts', version: '1' },
    paths: {
      '/a': { post: { operationId: 'a', requestBody, responses: { 200: { content: { 'application/json': {} } } } } },
    },
  }) as unknown as Document

const document = documentOf({
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, value: { type: 'object' }, file: {} },
      },
    },
  },
})

type AnyPart = { name: string; value?: unknown; stream: ByteSource }
type Take = (given: { body: AsyncIterable<AnyPart>; signal: AbortSignal }) => Promise<unknown>

async function serve(t: Test, take: Take, options: Served = {}) {
  const handler = async (given: Parameters<Take>[0]) => ({ status: 200, body: await take(given) })
  const app = await serveDocument(document, { handlers: { a: handler as unknown as AnyHandler }, ...options })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const request = async () => (await once(app.server, 'request'))[0] as IncomingMessage
  return { app, port, request }
}

const head = (framing: string) =>
  `POST /a HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n${framing}\r\n\r\n`
const post = (body: string) => `${head(`Content-Length: ${body.length}`)}${body}`
const part = (name: string, text: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
const end = '--b--\r\n'

const collect: Take = async ({ body }) => {
  const read: unknown[] = []
  for await (const { name, value, stream } of body)
    read.push(name, stream === undefined ? value : (await buffer(stream)).length)
  return read
}

t.test('a file is read as it arrives, before the fields behind it', async (t) => {
  const seen: string[] = []
  const { port } = await serve(t, async ({ body }) => {
    for await (const { name, stream } of body) {
      if (stream === undefined) seen.push(name)
      else for await (const chunk of stream) seen.push(String(chunk))
    }
    return seen
  })
  const text = part('file', 'first second') + part('name', 'a') + end
  const middle = text.indexOf(' second')
  const { socket, receives } = await openSocket(t, port, head(`Content-Length: ${text.length}`) + text.slice(0, middle))
  await until(() => seen.length > 0, 'the first bytes')
  t.same(seen, ['first'])
  socket.write(text.slice(middle))
  await receives(/"name"\]$/)
  t.equal(seen.join(''), 'first secondname')
})

t.test('another request may follow a form', async (t) => {
  const { port } = await serve(t, collect)
  const form = post(part('name', 'a') + part('file', 'abc') + end)
  const { receives } = await openSocket(t, port, form + form)
  await receives(/\["name","a","file",3\].*\["name","a","file",3\]$/s)
})

t.test('a field may arrive in several chunks', async (t) => {
  const { port } = await serve(t, collect)
  const form = part('name', 'a'.repeat(10)) + end
  const { socket, receives } = await openSocket(t, port, head(`Content-Length: ${form.length}`))
  const middle = form.indexOf('aaa')
  for (const [from, to] of [
    [0, middle + 2],
    [middle + 2, middle + 4],
    [middle + 4, form.length],
  ] as const) {
    socket.write(form.slice(from, to))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await receives(/\["name","a{10}"\]$/)
})

t.test('a disconnect within a file ends the file and the parts', async (t) => {
  const outcomes: unknown[] = []
  const { port, request } = await serve(t, async ({ body, signal }) => {
    const parts = body[Symbol.asyncIterator]()
    const { value } = await parts.next()
    outcomes.push(await buffer(value.stream).catch((error) => error.message))
    outcomes.push(await parts.next().catch((error) => error.message))
    outcomes.push(signal.aborted)
  })
  const arriving = request()
  const { socket } = await openSocket(t, port, head('Content-Length: 100000') + part('file', 'abc'))
  const message = await arriving
  await until(() => message.listenerCount('data') === 1, 'a handler that reads')
  socket.destroy()
  await until(() => outcomes.length === 3, 'the outcomes')
  t.same(outcomes, ['the body is incomplete', 'the body is incomplete', true])
  for (const event of ['data', 'end']) t.equal(message.listenerCount(event), 0, event)
})

t.test('a handler may ignore the parts', async (t) => {
  const first: Take = async ({ body }) => {
    for await (const { name } of body) return name
    return 'none'
  }
  const file = part('file', 'a'.repeat(1_000_000))
  const whole = post(file + part('name', 'a') + end)
  for (const [take, expected] of [
    [first, /connection: close.*"file"$/is],
    [async () => 'unread', /connection: close.*"unread"$/is],
  ] as [Take, RegExp][]) {
    const { port } = await serve(t, take)
    const { socket, receives } = await openSocket(t, port)
    // The service may close the connection before it has read the whole form.
    socket.write(whole.slice(0, 200_000))
    t.match(await receives(/"(file|unread)"$/), expected)
  }
  const { port } = await serve(t, async ({ body }) => {
    const names = []
    for await (const { name } of body) names.push(name)
    return names
  })
  const { receives } = await openSocket(t, port, whole)
  t.match(await receives(/\]$/), /HTTP\/1.1 200 .*\["file","name"\]$/s)
})

t.test('the fields of a form share the body limit', async (t) => {
  const { port, app } = await serve(t, collect)
  const limit = app.initialConfig.bodyLimit as number
  const half = 'a'.repeat(limit / 2)
  const fits = part('name', half) + part('value', `{"a":"${half.slice(8)}"}`) + end
  const [kept] = [await openSocket(t, port, post(fits))]
  await kept.receives(/\["name",/)
  const { receives } = await openSocket(t, port, post(part('name', half) + part('value', `${half}a`) + end))
  t.match(await receives(/41300/), /^HTTP\/1.1 413 /)
})

t.test('a form gets 503 when there is no memory for its fields', async (t) => {
  for (const [limit, size] of [
    // An arriving field needs memory for its bytes; its parsed value needs many times as much.
    [4_000, 3_000],
    [100_000, 20_000],
  ] as const) {
    const memory = bodyMemory(limit, () => {})
    let go = () => {}
    const waiting = new Promise<void>((resolve) => {
      go = resolve
    })
    const { port } = await serve(
      t,
      async (given) => {
        const read = (await collect(given)) as unknown[]
        await waiting
        return read.length
      },
      { memory },
    )
    const form = (text: string) => post(part('name', text) + end)
    const first = await openSocket(t, port, form('a'.repeat(size)))
    await until(() => memory.checkFits(size) !== undefined, 'the first form to be counted')
    const second = await openSocket(t, port, form('a'.repeat(size)))
    t.match(await second.receives(/50300/), /^HTTP\/1.1 503 .*retry-after/is)
    go()
    await first.receives(/\r\n\r\n2$/)
    await until(() => memory.checkFits(size) === undefined, 'the memory to be given back')
  }
})

t.test('a form gets 503 while another one holds the memory', async (t) => {
  const memory = bodyMemory(4_000, () => {})
  const { port } = await serve(t, collect, { memory })
  const form = part('name', 'a'.repeat(3_000)) + end
  const isTaken = () => {
    const rejection = memory.reserve(2_000, 0)
    if (rejection === undefined) memory.release(2_000)
    return rejection !== undefined
  }
  await openSocket(t, port, head(`Content-Length: ${form.length}`) + form.slice(0, 2_900))
  await until(isTaken, 'the first form to arrive')
  const { receives } = await openSocket(t, port, post(form))
  t.match(await receives(/50300/), /^HTTP\/1.1 503 .*retry-after/is)
})

const typedParts = documentOf({
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        properties: {
          xml: { type: 'string' },
          photo: { type: 'string' },
          meta: { type: 'object' },
          list: { type: 'array', items: { type: 'object' } },
          text: { type: 'string' },
        },
      },
      encoding: { xml: { contentType: 'application/xml; charset=utf-8' }, photo: { contentType: 'image/*' } },
    },
  },
})

async function postPart(t: Test, name: string, text: string, contentType: string | undefined) {
  const app = await serveDocument(typedParts, {
    handlers: {
      a: (async ({ body }: { body: AsyncIterable<{ name: string }> }) => {
        const names: string[] = []
        for await (const part of body) names.push(part.name)
        return { status: 200, body: names }
      }) as unknown as AnyHandler,
    },
  })
  t.teardown(() => app.close())
  const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`
  return await app.inject({
    method: 'POST',
    url: '/a',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    payload: `--b\r\nContent-Disposition: form-data; name="${name}"\r\n${type}\r\n${text}\r\n--b--\r\n`,
  })
}

const cases: [name: string, contentType: string | undefined, status: number, message?: RegExp][] = [
  ['xml', 'application/xml; charset=utf-8', 200],
  ['xml', 'application/xml', 200],
  ['xml', 'Application/XML;charset="UTF-8"', 200],
  ['xml', undefined, 200],
  ['xml', 'application/xml; charset=latin1', 415, /^body\/xml: the charset must be utf-8$/],
  ['xml', 'text/html', 415, /^body\/xml must have the media type application\/xml$/],
  ['photo', "image/x'y", 200],
  ['photo', 'text/plain', 415, /^body\/photo must have the media type image\/\*$/],
  ['meta', undefined, 200],
  ['meta', 'application/json', 200],
  ['meta', 'text/xml', 415, /^body\/meta must have the media type application\/json$/],
  ['list', 'application/json; charset=utf-8', 200],
  ['list', 'text/xml', 415, /^body\/list must have the media type application\/json$/],
  ['text', 'text/markdown', 200],
]

for (const [name, contentType, status, message] of cases)
  t.test(`a part ${name} of the type ${contentType} gets ${status}`, async (t) => {
    const answer = await postPart(t, name, '{}', contentType)
    t.equal(answer.statusCode, status)
    if (message === undefined) t.same(answer.json(), [name])
    else t.match(answer.json().message, message)
  })

t.test('parts that only additionalProperties describes are read and validated', async (t) => {
  const responseTo = async (more: object, ...parts: [name: string, text: string][]) => {
    const schema = { type: 'object', properties: { own: { type: 'string', readOnly: true } }, ...more }
    const open = documentOf({ required: true, content: { 'multipart/form-data': { schema } } })
    const handler = async (given: Parameters<Take>[0]) => ({ status: 200, body: await collect(given) })
    const app = await serveDocument(open, { handlers: { a: handler as unknown as AnyHandler } })
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url: '/a',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      payload: `${parts.map(([name, text]) => part(name, text)).join('')}${end}`,
    })
    return statusCode === 200 ? JSON.parse(body) : `${statusCode} ${JSON.parse(body).message}`
  }
  const number = { additionalProperties: { type: 'integer', maximum: 9 } }
  t.same(await responseTo(number, ['a', '1'], ['toString', '2'], ['__proto__', '3']), [
    ...['a', 1, 'toString', 2, '__proto__', 3],
  ])
  t.match(await responseTo(number, ['a', '10']), /^400 body\/a must be <= 9/)
  t.match(await responseTo(number, ['a', 'x']), /^400 body\/a must be integer/)
  t.match(await responseTo(number, ['a', '1'], ['a', '2']), /^400 body\/a must be given once/)
  t.same(await responseTo(number, ['own', 'text'], ['a', '1']), ['a', 1], 'an ignored property is skipped')
  const files = { additionalProperties: { type: 'array', items: { type: 'string', format: 'binary' } } }
  t.same(await responseTo(files, ['a', 'one'], ['a', 'three'], ['b', '']), ['a', 3, 'a', 5, 'b', 0])
  const json = { additionalProperties: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } }
  t.same(await responseTo(json, ['a', '{"n":1}']), ['a', { n: 1 }])
  t.match(await responseTo(json, ['a', '{}']), /^400 body\/a must have required property 'n'/)
  t.same(await responseTo({ ...json, properties: { b: {} }, additionalProperties: true }, ['a', '1']), [])
})

t.test('a name with %22 stands for a quote if the document has a field with that quote', async (t) => {
  const schema = {
    type: 'object',
    required: ['a"b'],
    properties: { 'a"b': { type: 'integer' }, 'c%22': { type: 'string' } },
  }
  const quoted = documentOf({ required: true, content: { 'multipart/form-data': { schema } } })
  const handler: unknown = async ({ body }: { body: AsyncIterable<AnyPart> }) => {
    const names: unknown[] = []
    for await (const { name, value } of body) names.push([name, value])
    return { status: 200, body: names }
  }
  const app = await serveDocument(quoted, { handlers: { a: handler as AnyHandler } })
  t.teardown(() => app.close())
  const send = (...parts: string[]) =>
    app.inject({
      method: 'POST',
      url: '/a',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      payload: parts.join('') + end,
    })
  const read = [
    ['a"b', 1],
    ['c%22', 'x'],
  ]
  for (const name of ['a%22b', 'a\\"b']) t.same((await send(part(name, '1'), part('c%22', 'x'))).json(), read, name)
  t.match((await send(part('a%2522b', '1'))).json(), { message: /required/ })
})
