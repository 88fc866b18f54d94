import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Document } from 'fastify-contract-cli/testing'
import { until, within } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { type Served, serveDocument } from '../support/serve-document.ts'

const number = { type: 'integer' }
const bytes = { 'application/octet-stream': {} }

const document = {
  openapi: '3.1.0',
  info: { title: 'Broken streams', version: '1' },
  paths: {
    '/bytes': { get: { operationId: 'bytes', responses: { 200: { content: bytes } } } },
    '/events': {
      get: { operationId: 'events', responses: { 200: { content: { 'text/event-stream': { schema: number } } } } },
    },
    '/lines': {
      get: { operationId: 'lines', responses: { 200: { content: { 'application/jsonl': { schema: number } } } } },
    },
  },
} as unknown as Document

type Give = () => AsyncIterable<unknown>

/** Serves the streams of `give` on a port. */
async function serve(t: Test, give: Give, options: Served = {}) {
  const handler = (async () => ({ status: 200, body: give() })) as unknown as AnyHandler
  const names = ['bytes', 'events', 'lines']
  const app = await serveDocument(document, {
    handlers: Object.fromEntries(names.map((name) => [name, handler])),
    ...options,
  })
  t.teardown(() => app.close())
  const listen = async () => {
    await app.listen({ host: '127.0.0.1', port: 0 })
    return (app.server.address() as AddressInfo).port
  }
  return { app, listen }
}

/** Sends a request; resolves with what is received, and with the code of the error that ends the connection, if any. */
async function receive(t: Test, place: number | string, request: string) {
  const socket = connect(typeof place === 'string' ? { path: place } : { port: place, host: '127.0.0.1' })
  t.teardown(() => socket.destroy())
  const received: { text: string; error?: string | undefined } = { text: '' }
  socket.setEncoding('latin1').on('data', (part: string) => {
    received.text += part
  })
  socket.on('error', ({ code }: Error & { code?: string }) => {
    received.error = code
  })
  socket.write(request)
  await within(new Promise((resolve) => socket.once('close', resolve)), 'the close of the connection')
  return received
}

const get = (path: string, version = '1.0') => `GET ${path} HTTP/${version}\r\nHost: a\r\n\r\n`

async function* failing(...parts: unknown[]) {
  yield* parts
  throw new Error('broken')
}

const first = Buffer.from('first')

function failingWebStream(): AsyncIterable<unknown> {
  let pulls = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(first)
        else controller.error(new Error('broken'))
      },
    },
    { highWaterMark: 0 },
  )
}

const broken: Record<string, { path: string; give: Give; received: RegExp }> = {
  'bytes fail': { path: '/bytes', give: () => failing(first), received: /\r\n\r\nfirst$/ },
  'a byte part is a text': { path: '/bytes', give: () => failing(first, 'text'), received: /\r\n\r\nfirst$/ },
  'a Node.js stream fails': { path: '/bytes', give: () => Readable.from(failing(first)), received: /\r\n\r\nfirst$/ },
  'a web stream fails': { path: '/bytes', give: failingWebStream, received: /\r\n\r\nfirst$/ },
  'lines fail': { path: '/lines', give: () => failing(1), received: /\r\n\r\n1\n$/ },
  'a line is invalid': { path: '/lines', give: () => failing(1, 'text'), received: /\r\n\r\n1\n$/ },
  'events fail': { path: '/events', give: () => failing({ data: 1 }), received: /data: 1\n\n$/ },
  'an event is invalid': { path: '/events', give: () => failing({ data: 1 }, { data: 'x' }), received: /data: 1\n\n$/ },
}

for (const [name, { path, give, received }] of Object.entries(broken))
  t.test(`over HTTP/1.0 the connection is reset: ${name}`, async (t) => {
    const { listen } = await serve(t, give)
    const { text, error } = await receive(t, await listen(), get(path))
    t.match(text, received)
    t.equal(error, 'ECONNRESET')
  })

t.test('over HTTP/1.0 the connection is reset when a stream of a route of the application fails', async (t) => {
  const { app, listen } = await serve(t, () => failing())
  app.get('/own', (_request, reply) => reply.send(Readable.from(failing('first'))))
  app.get('/raw', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200).write('first', () => reply.raw.destroy())
  })
  const port = await listen()
  for (const path of ['/own', '/raw'])
    t.match(await receive(t, port, get(path)), { text: /\r\n\r\nfirst$/, error: 'ECONNRESET' })
})

t.test('over HTTP/1.0 the connection is reset when a stream is silent for too long', async (t) => {
  async function* silent() {
    yield first
    await new Promise(() => {})
  }
  const { listen } = await serve(t, silent, { limits: { requestTime: 100, handlerTime: 100, headersTime: 100 } })
  t.match(await receive(t, await listen(), get('/bytes')), { text: /\r\n\r\nfirst$/, error: 'ECONNRESET' })
})

t.test('over HTTP/1.0 the connection is reset when the process exits during a shutdown', async (t) => {
  let end = () => {}
  async function* waiting() {
    yield first
    await new Promise<void>((resolve) => {
      end = resolve
    })
  }
  const { app, listen } = await serve(t, waiting)
  const port = await listen()
  const before = new Set(process.listeners('exit'))
  const idle = receive(t, port, 'GET /unknown HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(app.server, 'request')
  const response = once(app.server, 'request')
  const received = receive(t, port, get('/bytes'))
  const [, { socket }] = await response
  await until(() => socket.bytesWritten > 0, 'the first part')
  const closed = app.close()
  const added = await until(() => process.listeners('exit').find((one) => !before.has(one)), 'the exit listener')
  added(1)
  t.match(await received, { error: 'ECONNRESET' })
  t.match(await idle, { text: /^HTTP\/1.1 404 /, error: undefined })
  end()
  await closed
  t.notOk(process.listeners('exit').includes(added), 'the closed app leaves no listener')
})

t.test('a connection is reset when its response fails while an earlier one is being sent', async (t) => {
  let release = () => {}
  const { app, listen } = await serve(t, () => failing(first))
  app.get('/slow', (_request, reply) => {
    release = () => reply.send('slow')
  })
  const port = await listen()
  const keepAlive = 'GET /slow HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'
  app.server.on('request', ({ url }, response) => {
    if (url === '/bytes') until(() => response.listenerCount('socket') > 0, 'the failure').then(() => release())
  })
  const { error, text } = await receive(t, port, keepAlive + get('/bytes'))
  t.match(text, /\r\n\r\nslowHTTP.*\r\n\r\nfirst$/s)
  t.equal(error, 'ECONNRESET')
})

t.test('over HTTP/1.0 a regular end is no reset', async (t) => {
  async function* whole() {
    yield first
  }
  const { listen } = await serve(t, whole)
  const port = await listen()
  const { text, error } = await receive(t, port, get('/bytes'))
  t.match(text, /\r\n\r\nfirst$/)
  t.equal(error, undefined)
  t.equal((await receive(t, port, 'HEAD /bytes HTTP/1.0\r\n\r\n')).error, undefined)
})

t.test('over HTTP/1.0 the end of an event stream at shutdown is no reset', async (t) => {
  async function* endless() {
    yield { data: 1 }
    await new Promise(() => {})
  }
  const { app, listen } = await serve(t, endless)
  const port = await listen()
  const response = once(app.server, 'request')
  const received = receive(t, port, get('/events'))
  const [, { socket }] = await response
  await until(() => socket.bytesWritten > 0, 'the first event')
  await app.close()
  t.equal((await received).error, undefined)
})

t.test('in HTTP/1.1 a broken stream ends without the last chunk, and keeps the parts before', async (t) => {
  const { listen } = await serve(t, () => failing(first))
  t.match(await receive(t, await listen(), get('/bytes', '1.1')), { text: /\r\n5\r\nfirst\r\n$/, error: undefined })
})

t.test('a Unix socket is closed, since it cannot be reset', async (t) => {
  const { app } = await serve(t, () => failing(first))
  // The path of a Unix socket has at most 107 bytes.
  const directory = mkdtempSync(join(tmpdir(), 'reset-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'socket')
  await app.listen({ path })
  t.match(await receive(t, path, get('/bytes')), { text: /\r\n\r\nfirst$/, error: undefined })
})
