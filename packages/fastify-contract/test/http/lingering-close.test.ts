import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Document } from 'fastify-contract-cli/testing'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until, within } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { ContractError } from '../../src/contract/errors.ts'
import type { Contract } from '../../src/contract/routes.ts'
import { fixedBounds, type LingerBounds, lingeringClose } from '../../src/http/lingering-close.ts'
import { defaultLimits } from '../../src/limits/limits.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { createAdminServer } from '../../src/service/admin-server.ts'
import { type Served, serveDocument } from '../support/serve-document.ts'

const json = { 'application/json': { schema: {} } }
const ok = { 200: { content: json } }

const document = {
  openapi: '3.1.0',
  info: { title: 'Early answers', version: '1' },
  paths: {
    '/whole': { post: { operationId: 'whole', security: [], requestBody: { content: json }, responses: ok } },
    '/either': {
      post: {
        operationId: 'either',
        security: [],
        requestBody: { content: json },
        responses: { 200: { content: { ...json, 'text/plain': {} } } },
      },
    },
    '/closed': {
      post: { operationId: 'closed', security: [{ token: [] }], requestBody: { content: json }, responses: ok },
    },
    '/upload': {
      put: { operationId: 'upload', security: [], requestBody: { content: { 'image/png': {} } }, responses: ok },
    },
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
} as unknown as Document

const handler = (async () => ({ status: 200, body: { done: true } })) as unknown as AnyHandler

async function serve(t: Test, options: Served = {}) {
  const app = await serveDocument(document, {
    handlers: { whole: handler, either: handler, closed: handler, upload: handler },
    verifiers: { token: (_request, done) => done(new ContractError('invalidToken', 'unknown token')) },
    ...options,
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, port: (app.server.address() as AddressInfo).port }
}

/** Sends everything before it reads, as many clients do; resolves with what it then reads until the other side ends. */
async function sendThenRead(t: Test, port: number, head: string, body: Buffer): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  socket.write(head)
  await within(
    new Promise<void>((resolve, reject) => {
      socket.once('error', reject).write(body, () => resolve())
    }),
    'the end of the upload',
  )
  // A reset that follows the upload arrives by now.
  await sleep(20)
  if (socket.destroyed) throw new Error('the connection was reset')
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  await within(once(socket.resume(), 'end'), 'the end of the response')
  return text
}

const size = 8_000_000
const bytes = Buffer.alloc(size, ' ')
const chunk = Buffer.from(`${(1_000_000).toString(16)}\r\n${' '.repeat(1_000_000)}\r\n`)
const chunks = Buffer.concat([...Array(8).fill(chunk), Buffer.from('0\r\n\r\n')])

type Upload = { status: number; line: string; headers?: string[]; body?: Buffer; options?: Served }

const jsonType = 'Content-Type: application/json'
const png = 'Content-Type: image/png'

const uploads: Record<string, Upload> = {
  'an unknown token': { status: 401, line: 'POST /closed HTTP/1.1', headers: [jsonType] },
  'an unknown token, over HTTP/1.0': { status: 401, line: 'POST /closed HTTP/1.0', headers: [jsonType] },
  'an unknown token, in chunks': { status: 401, line: 'POST /closed HTTP/1.1', headers: [jsonType], body: chunks },
  'an unknown token, with Connection: close': {
    status: 401,
    line: 'POST /closed HTTP/1.1',
    headers: [jsonType, 'Connection: close'],
  },
  'a Content-Length over the limit': { status: 413, line: 'POST /whole HTTP/1.1', headers: [jsonType] },
  'chunks over the limit': { status: 413, line: 'POST /whole HTTP/1.1', headers: [jsonType], body: chunks },
  'an upload whose Content-Length is over the limit': {
    status: 413,
    line: 'PUT /upload HTTP/1.1',
    headers: [png],
    options: { limits: { upload: 1_000_000 }, handlers: readingHandlers() },
  },
  'an unlisted media type': { status: 415, line: 'POST /whole HTTP/1.1', headers: ['Content-Type: text/csv'] },
  'an unlisted Accept': { status: 406, line: 'POST /either HTTP/1.1', headers: [jsonType, 'Accept: text/csv'] },
  'an unknown path': { status: 404, line: 'POST /unknown HTTP/1.1' },
  'an unknown method': { status: 405, line: 'PATCH /whole HTTP/1.1' },
  'two Host headers': { status: 400, line: 'POST /whole HTTP/1.1', headers: ['Host: b'] },
  'an unknown expectation': { status: 417, line: 'POST /whole HTTP/1.1', headers: ['Expect: something'] },
  'a client that does not wait for 100 Continue': {
    status: 401,
    line: 'POST /closed HTTP/1.1',
    headers: [jsonType, 'Expect: 100-continue'],
  },
  'a header section over the limit': {
    status: 431,
    line: 'POST /whole HTTP/1.1',
    headers: [`A: ${'a'.repeat(20_000)}`],
  },
  'bytes that are not HTTP': { status: 400, line: 'POST' },
  'a chunk without a size': {
    status: 400,
    line: 'POST /whole HTTP/1.1',
    headers: [jsonType],
    body: Buffer.concat([Buffer.from('1\r\n \r\nno size\r\n'), bytes]),
  },
  'an overloaded service': {
    status: 503,
    line: 'POST /whole HTTP/1.1',
    headers: [jsonType],
    options: { limits: { inFlight: 0 } },
  },
  'a handler that ignores its upload': { status: 200, line: 'PUT /upload HTTP/1.1', headers: [png] },
  'a handler that ignores its upload in chunks': {
    status: 200,
    line: 'PUT /upload HTTP/1.1',
    headers: [png],
    body: chunks,
  },
}

function readingHandlers(): Record<string, AnyHandler> {
  const upload = async ({ body }: { body: AsyncIterable<unknown> }) => {
    for await (const _part of body);
    return { status: 200, body: {} }
  }
  return { whole: handler, either: handler, closed: handler, upload: upload as unknown as AnyHandler }
}

for (const [name, { status, line, headers = [], body = bytes, options }] of Object.entries(uploads))
  t.test(`a client that sends 8 MB before it reads gets ${status}: ${name}`, async (t) => {
    const { port } = await serve(t, options)
    const framing = body === bytes ? `Content-Length: ${size}` : 'Transfer-Encoding: chunked'
    const head = [line, 'Host: a', framing, ...headers].join('\r\n')
    const text = await sendThenRead(t, port, `${head}\r\n\r\n`, body)
    t.match(text, new RegExp(`^HTTP/1.1 ${status} `))
    const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(text) ?? []
    t.equal(text.length - text.indexOf('\r\n\r\n') - 4, Number(length), 'the response is complete')
    t.match(text, /\r\nconnection: close\r\n/i)
  })

t.test('a client that sends 8 MB to the admin server before it reads gets its error', async (t) => {
  const contract = { routes: { info: { title: 'a', version: '1' } }, documentText: '{}' } as unknown as Contract
  const server = createAdminServer({
    apis: [{ prefix: '', added: '', contract, docs: 'none' }],
    metrics: async () => '',
    unreadyReason: () => undefined,
    onReady() {},
    serviceUrl: () => undefined,
  })
  t.teardown(() => server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const rest = `Host: localhost\r\nContent-Length: ${size}\r\n\r\n`
  t.match(await sendThenRead(t, port, `POST /docs HTTP/1.1\r\n${rest}`, bytes), /^HTTP\/1.1 405 .*GET and HEAD/s)
  t.match(await sendThenRead(t, port, `POST\r\n${rest}`, bytes), /^HTTP\/1.1 400 Bad Request\r\n/)
  const large = `GET / HTTP/1.1\r\nA: ${'a'.repeat(10_000)}\r\n${rest}`
  t.match(await sendThenRead(t, port, large, bytes), /^HTTP\/1.1 431 /)
  const invalid = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n'
  await (await openSocket(t, port, invalid)).closed()
})

const chunkedHead =
  'POST /closed HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'

t.test('requests that follow the last response of a connection are discarded without being parsed', async (t) => {
  let begun = 0
  const { port } = await serve(t, { observer: { begin: () => begun++, end() {} } })
  const head =
    'POST /closed HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
  const { socket, receives, closed } = await openSocket(t, port, head)
  await receives(/^HTTP\/1.1 401 /)
  const next = 'GET /unknown HTTP/1.1\r\nHost: a\r\n\r\n'
  socket.write(`0\r\n\r\n${next.repeat(100_000)}`)
  socket.end()
  t.match(await closed(), /^HTTP\/1.1 401 .*\}$/s, 'nothing follows the response')
  t.equal(begun, 1)
})

t.test('the service reads at most the bytes of its limit after a response', async (t) => {
  const limit = 20_000_000
  const { app, port } = await serve(t, { limits: { linger: limit } })
  const accepted = once(app.server, 'connection')
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  socket.on('error', () => {}).write(chunkedHead)
  await within(once(socket.resume(), 'end'), 'the end of the response')
  const [connection] = (await accepted) as [Socket]
  const send = (error?: Error | null) => {
    if (!error) socket.write(bytes, send)
  }
  send()
  await until(() => socket.destroyed, 'the reset')
  t.ok(connection.bytesRead > limit)
  t.ok(connection.bytesRead <= limit + 200_000, `${connection.bytesRead} bytes`)
})

t.test('the service reads for at most the time of its limit after a response', async (t) => {
  const { port } = await serve(t, { limits: { lingerTime: 500 } })
  const began = performance.now()
  const socket = await openHalf(t, port)
  await until(() => socket.destroyed, 'the reset')
  t.ok(performance.now() - began >= 450)
})

t.test('a shutdown does not wait for clients that ignore the close of their connection', async (t) => {
  const { app, port } = await serve(t)
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  socket.on('error', () => {}).write(`POST /closed HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
  await within(once(socket.resume(), 'end'), 'the end of the response')
  const trickle = setInterval(() => socket.write(' '), 50)
  t.teardown(() => clearInterval(trickle))
  const began = performance.now()
  await app.close()
  const passed = performance.now() - began
  t.ok(passed >= fixedBounds.closingTime - 50, 'the client has time to read')
  t.ok(passed < defaultLimits.lingerTime - 10_000, `closed after ${passed} ms`)
})

t.test('the connections that are read on are a tenth of all', async (t) => {
  const { port } = await serve(t, { limits: { connections: 15 } })
  const open = () => openHalf(t, port)
  const [first, second] = [await open(), await open()]
  t.equal(first.destroyed, false)
  await open()
  await until(() => first.destroyed, 'the oldest connection is reset')
  t.equal(second.destroyed, false)
})

/** Opens a connection that has its response, and whose client neither sends its request nor closes. */
async function openHalf(t: Test, port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  socket.on('error', () => {}).write(`POST /closed HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
  await within(once(socket.resume(), 'end'), 'the end of the response')
  // A reset is seen by writing.
  const timer = setInterval(() => socket.write(' '), 20)
  t.teardown(() => clearInterval(timer))
  return socket
}

const long = 600_000
const wide = { bytes: Number.POSITIVE_INFINITY, time: long, silence: long, idle: long, closingTime: long }

/** Opens a connection, and passes the server's side of it to a lingering close with the given bounds. */
async function lingerOnce(t: Test, bounds: Partial<LingerBounds>, isUnread = true) {
  const lingering = lingeringClose(() => 2, { ...wide, ...bounds })
  const server = createServer({ allowHalfOpen: true })
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const accepted = once(server, 'connection')
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => client.destroy())
  client.on('error', () => {}).resume()
  const [socket] = (await accepted) as [Socket]
  socket.on('error', () => {})
  lingering.linger(socket, () => isUnread)
  await within(once(client, 'end'), 'the end of what the service sends')
  t.equal(socket.destroyed, false)
  return { client, socket, lingering, closes: () => until(() => socket.destroyed, 'the close') }
}

t.test('a connection is closed after the bytes of its bound', async (t) => {
  const { client, socket, closes } = await lingerOnce(t, { bytes: 1_000_000 })
  client.write(Buffer.alloc(1_000_000))
  await until(() => socket.bytesRead === 1_000_000, 'the bytes within the bound are read')
  t.equal(socket.destroyed, false)
  client.write(Buffer.alloc(10_000_000))
  await closes()
  t.ok(socket.bytesRead <= 1_000_000 + 65_536, `${socket.bytesRead} bytes read`)
})

t.test('a connection is closed after the time of its bound, whatever arrives', async (t) => {
  const { client, closes } = await lingerOnce(t, { time: 300 })
  const timer = setInterval(() => client.write(' '), 20)
  t.teardown(() => clearInterval(timer))
  await closes()
})

t.test('a connection is closed after a silence, sooner if nothing is missing', async (t) => {
  await (await lingerOnce(t, { silence: 200 })).closes()
  await (await lingerOnce(t, { idle: 200 }, false)).closes()
})

t.test('a connection is closed when its client closes, and once only', async (t) => {
  const { client, socket, lingering, closes } = await lingerOnce(t, {})
  lingering.linger(socket, () => true)
  t.equal(socket.listenerCount('end'), 1)
  client.end()
  await closes()
  lingering.linger(socket, () => true)
})

t.test('a closing server leaves its connections little time', async (t) => {
  const { lingering, closes } = await lingerOnce(t, { closingTime: 100 })
  lingering.hurry()
  await closes()
})

t.test('connections that linger in one turn of the event loop are no more than the bound', async (t) => {
  const sockets: Socket[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => sockets.push(socket.on('error', () => {})))
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  for (let i = 0; i < 6; i++) {
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    t.teardown(() => client.destroy())
    client.on('error', () => {})
  }
  await until(() => sockets.length === 6, 'the connections are accepted')
  const lingering = lingeringClose(() => 2, wide)
  for (const socket of sockets) lingering.linger(socket, () => true)
  t.same(
    sockets.map(({ destroyed }) => destroyed),
    [true, true, true, true, false, false],
  )
})
