import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Document } from 'fastify-contract-cli/testing'
import { collectGarbage } from 'fastify-contract-test-support/heap'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { ContractError } from '../../src/contract/errors.ts'
import type { ByteSource } from '../../src/http/upload.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { type Served, serveDocument } from '../support/serve-document.ts'

const document = {
  openapi: '3.1.0',
  info: { title: 'Uploads', version: '1' },
  paths: {
    '/a': {
      put: {
        operationId: 'a',
        parameters: [{ name: 'n', in: 'query', schema: { type: 'integer' } }],
        security: [{ token: [] }],
        requestBody: { content: { 'image/png': {} } },
        responses: { 200: { content: { 'application/json': {} } } },
      },
      post: {
        operationId: 'echo',
        requestBody: { content: { 'image/png': {} } },
        responses: { 200: { content: { 'image/png': {} } } },
      },
    },
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
} as unknown as Document

type Given = { body: ByteSource; signal: AbortSignal }
type Take = (given: Given) => Promise<unknown>

/** Serves uploads on a port. `request` resolves to the server's next IncomingMessage. */
async function serve(t: Test, take: Take, options: Served = {}) {
  const logged: string[] = []
  const handler = (async (given: Given) => ({ status: 200, body: await take(given) })) as unknown as AnyHandler
  const app = await serveDocument(document, {
    handlers: { a: handler, echo: handler },
    verifiers: {
      token: ({ headers }, done) =>
        done(headers.authorization === undefined ? new ContractError('missingToken', 'no token') : undefined),
    },
    limits: { upload: 1_000_000, formFields: 10 },
    logger: { level: 'warn', stream: { write: (line) => logged.push(line) } },
    ...options,
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const request = async () => (await once(app.server, 'request'))[0] as IncomingMessage
  return { app, port, request, logged }
}

const lines = (...headers: string[]) => `${headers.join('\r\n')}\r\n\r\n`
const head = (...headers: string[]) => lines('PUT /a HTTP/1.1', 'Host: a', 'Authorization: Bearer a', ...headers)
const png = 'Content-Type: image/png'
const chunked = 'Transfer-Encoding: chunked'
const expecting = 'Expect: 100-continue'

const lengthOf: Take = async ({ body }) => (await buffer(body)).length

t.test('an upload is rejected before 100 Continue is sent', async (t) => {
  let calls = 0
  const { port } = await serve(t, async () => calls++)
  const tooLong = head(png, 'Content-Length: 1000001', expecting)
  const refusals: [string, RegExp][] = [
    [lines('PUT /a HTTP/1.1', 'Host: a', png, 'Content-Length: 5', expecting), /^HTTP\/1.1 401 /],
    [head('Content-Type: image/gif', 'Content-Length: 5', expecting), /^HTTP\/1.1 415 /],
    [head(png, 'Content-Encoding: gzip', 'Content-Length: 5', expecting), /^HTTP\/1.1 415 .*41501/s],
    [tooLong, /^HTTP\/1.1 413 .*41300/s],
    [head(png, 'Content-Length: 5', expecting).replace('/a', '/a?n=b'), /^HTTP\/1.1 400 .*40003.*query\/n/s],
  ]
  for (const [text, expected] of refusals) {
    const { receives, received } = await openSocket(t, port, text)
    await receives(/"message":".*}$/)
    t.match(received(), expected)
  }
  t.equal(calls, 0)
})

t.test('100 Continue is sent when the handler reads the body', async (t) => {
  let go = () => {}
  const waiting = new Promise<void>((resolve) => {
    go = resolve
  })
  const { port, request } = await serve(t, async (given) => {
    await waiting
    return await lengthOf(given)
  })
  const arriving = request()
  const { socket, received, receives } = await openSocket(t, port, head(png, 'Content-Length: 5', expecting))
  await arriving
  t.equal(received(), '')
  go()
  await receives(/^HTTP\/1.1 100 Continue\r\n\r\n$/)
  socket.write('12345')
  await receives(/HTTP\/1.1 200 OK.*\r\n\r\n5$/s)
  t.notMatch(received(), /connection: close/i)
  socket.write(`${head(png, 'Content-Length: 2')}12`)
  await receives(/\r\n\r\n2$/)
})

t.test('without 100 Continue the response closes the connection', async (t) => {
  const { port } = await serve(t, async () => 'unread')
  const { closed } = await openSocket(t, port, head(png, 'Content-Length: 5', expecting))
  t.match(await closed(), /^HTTP\/1.1 200 OK.*connection: close.*"unread"$/is)
})

t.test('a chunked upload over its limit gets 413, whatever its handler throws', async (t) => {
  for (const wrap of [(error: unknown) => error, () => new Error('the disk is full')]) {
    let thrown: unknown
    const { port, logged } = await serve(t, async (given) => {
      thrown = await lengthOf(given).catch((error) => error)
      throw wrap(thrown)
    })
    const { socket, closed, receives } = await openSocket(t, port, head(png, chunked))
    socket.write(`f4240\r\n${'a'.repeat(1_000_000)}\r\n`)
    socket.write('1\r\na\r\n')
    await receives(/"error":41300/)
    t.match(await closed(), /^HTTP\/1.1 413 .*connection: close/is)
    t.match(thrown, { name: 'ContractError', kind: 'bodyTooLarge' })
    t.same(logged, [])
  }
})

t.test('a chunked upload as large as its limit is read in any chunk size', async (t) => {
  const { port, app } = await serve(t, lengthOf, { limits: { upload: 2_000_000, formFields: 1 } })
  t.ok((app.initialConfig.bodyLimit as number) < 2_000_000)
  const { receives, socket } = await openSocket(t, port, head(png, chunked))
  socket.write(`${'1\r\na\r\n'.repeat(1_000)}1e8098\r\n${'a'.repeat(1_999_000)}\r\n0\r\n\r\n`)
  await receives(/HTTP\/1.1 200 OK.*\r\n\r\n2000000$/s)
})

t.test('a long chunked upload is not mistaken for endless trailers', async (t) => {
  const { port } = await serve(t, lengthOf, { limits: { upload: 10_000_000, formFields: 1 } })
  const { receives, socket } = await openSocket(t, port, head(png, chunked))
  // For other bodies, bytes on the wire beyond six times the body limit count as trailers. The pause is longer than the
  // interval of that check.
  socket.write(`7a1200\r\n${'a'.repeat(8_000_000)}\r\n`)
  await new Promise((resolve) => setTimeout(resolve, 600))
  socket.write('0\r\n\r\n')
  await receives(/HTTP\/1.1 200 OK.*\r\n\r\n8000000$/s)
})

t.test('trailers of an upload have the limit of the header section', async (t) => {
  let reads = 0
  const { port } = await serve(
    t,
    async ({ body }) => {
      for await (const chunk of body) reads += chunk.length
    },
    { limits: { headers: 2_048 } },
  )
  const trailers = `X-A: ${'a'.repeat(1_500)}\r\nX-B: ${'a'.repeat(1_500)}\r\n`
  const { receives, socket } = await openSocket(t, port, `${head(png, chunked)}1\r\na\r\n`)
  await until(() => reads === 1, 'a handler that reads')
  socket.write(`0\r\n${trailers}\r\n`)
  t.match(await receives(/\d{5}/), /^HTTP\/1.1 431 /)
})

t.test('bytes of the next request do not count for the trailers of an upload', async (t) => {
  let read = () => {}
  const begun = new Promise<void>((resolve) => {
    read = resolve
  })
  const take: Take = async ({ body }) => {
    await begun
    return (await buffer(body)).length
  }
  const { app, port } = await serve(t, take, { limits: { headers: 2_048 } })
  const sockets: Socket[] = []
  app.server.on('connection', (socket) => sockets.push(socket))
  const first = `${head(png, chunked)}1\r\na\r\n0\r\nX-A: a\r\n\r\n`
  const { receives, socket } = await openSocket(t, port, `${first}${head(png, 'Content-Length: 10000')}`)
  const arrived = () => sockets[0]?.bytesRead ?? 0
  await until(() => arrived() > first.length, 'both heads')
  const heads = arrived()
  socket.write('b'.repeat(10_000))
  await until(() => arrived() >= heads + 10_000, 'the body of the second request')
  read()
  await receives(/HTTP\/1.1 200 OK.*\r\n\r\n1HTTP\/1.1 200 OK.*\r\n\r\n10000$/s)
})

t.test('a disconnect ends the stream, aborts the signal and leaves no listener', async (t) => {
  const outcomes: unknown[] = []
  const { port, request, logged } = await serve(t, async ({ body, signal }) => {
    const aborted = once(signal, 'abort')
    outcomes.push(await buffer(body).catch((error) => error))
    await aborted
    outcomes.push(signal.reason)
    throw new Error('what a handler throws then')
  })
  const arriving = request()
  const { socket } = await openSocket(t, port, `${head(png, 'Content-Length: 100000')}abc`)
  const message = await arriving
  await until(() => message.listenerCount('data') === 1, 'a handler that reads')
  socket.destroy()
  await until(() => outcomes.length === 2, 'the outcomes')
  t.match(outcomes, [
    { name: 'ContractError', message: 'the body is incomplete' },
    { name: 'AbortError', message: 'the connection is closed' },
  ])
  t.ok(message.destroyed)
  for (const event of ['data', 'end']) t.equal(message.listenerCount(event), 0, event)
  t.same(logged, [])
})

t.test('a small unread rest of an upload is drained, a large one closes the connection', async (t) => {
  const { port } = await serve(t, async ({ body }) => {
    for await (const chunk of body) return chunk.length > 0
    return 'empty'
  })
  const little = await openSocket(t, port, `${head(png, 'Content-Length: 60000')}a`)
  await little.receives(/true$/)
  t.notMatch(little.received(), /connection: close/i)
  // Each piece is larger than the buffer of a request, so the second one is not read unless something consumes it.
  for (const length of [20_000, 20_000, 19_999]) {
    little.socket.write('a'.repeat(length))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  little.socket.write(head(png, 'Content-Length: 0'))
  await little.receives(/"empty"$/)
  for (const framing of ['Content-Length: 100000', chunked]) {
    const { closed } = await openSocket(t, port, `${head(png, framing)}1\r\na\r\n`)
    t.match(await closed(), /HTTP\/1.1 200 OK.*connection: close.*true$/is, framing)
  }
})

t.test('a handler over its time limit gets 503, and its stream ends', async (t) => {
  const ended: unknown[] = []
  const { port } = await serve(
    t,
    async ({ body, signal }) => {
      signal.addEventListener('abort', () => ended.push(signal.reason))
      ended.push(await buffer(body).catch((error) => error))
    },
    { limits: { handlerTime: 100 } },
  )
  const { closed } = await openSocket(t, port, `${head(png, 'Content-Length: 100000')}abc`)
  t.match(await closed(), /^HTTP\/1.1 503 /)
  await until(() => ended.length === 2, 'the end of the stream')
  t.match(ended, [
    { message: 'the handler took too long' },
    { message: /the response has been sent|the body is incomplete/ },
  ])
})

t.test('an upload that is in flight at shutdown is read to its end', async (t) => {
  let isAborted: boolean | undefined
  const { port, app, request } = await serve(t, async ({ body, signal }) => {
    const { length } = await buffer(body)
    isAborted = signal.aborted
    return length
  })
  const arriving = request()
  const { socket, closed } = await openSocket(t, port, `${head(png, 'Content-Length: 4')}ab`)
  await arriving
  const closing = app.close()
  await new Promise((resolve) => setTimeout(resolve, 50))
  socket.write('cd')
  t.match(await closed(), /^HTTP\/1.1 200 OK.*\r\n4$|\r\n\r\n4$/s)
  t.equal(isAborted, false)
  await closing
})

t.test('an upload can be sent back while it arrives', async (t) => {
  const { port } = await serve(t, async ({ body }) => body)
  const { socket, receives } = await openSocket(t, port, lines('POST /a HTTP/1.1', 'Host: a', png, 'Content-Length: 5'))
  socket.write('ab')
  await receives(/ab/)
  socket.write('cde')
  await receives(/cde/)
})

t.test('a slow handler slows its client: the service holds no more than 512 KiB of an upload', async (t) => {
  const used = () => {
    collectGarbage()
    const { arrayBuffers, heapUsed } = process.memoryUsage()
    return arrayBuffers + heapUsed
  }
  const size = 67_108_864
  let [read, most, memory] = [0, 0, 0]
  const { port, request } = await serve(
    t,
    async ({ body }) => {
      const before = used()
      for await (const chunk of body) {
        const isRest = read % 4_194_304 > (read + chunk.length) % 4_194_304
        read += chunk.length
        most = Math.max(most, message.socket.bytesRead - read)
        if (!isRest) continue
        await new Promise((resolve) => setTimeout(resolve, 20))
        memory = Math.max(memory, used() - before)
      }
      return read
    },
    { limits: { upload: size, formFields: 1 } },
  )
  const arriving = request()
  const { socket, receives } = await openSocket(t, port, head(png, `Content-Length: ${size}`))
  const message = await arriving
  const part = Buffer.alloc(1_048_576)
  for (let sent = 0; sent < size; sent += part.length) if (!socket.write(part)) await once(socket, 'drain')
  await receives(new RegExp(`\r\n\r\n${size}$`))
  t.equal(read, size)
  t.ok(most <= 524_288, `${most} bytes are read ahead`)
  t.ok(memory <= 8_388_608, `${memory} bytes of memory, the client's included`)
})
