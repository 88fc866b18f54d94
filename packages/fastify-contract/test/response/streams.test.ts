import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { Document } from 'fastify-contract-cli/testing'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { overloaded } from '../../src/contract/errors.ts'
import type { LoadShedder } from '../../src/limits/limits.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { type Served, serveDocument } from '../support/serve-document.ts'

const number = { type: 'integer' }

const document = {
  openapi: '3.1.0',
  info: { title: 'Streams', version: '1' },
  paths: {
    '/a': {
      get: {
        operationId: 'a',
        responses: { 200: { headers: { ETag: {} }, content: { 'application/octet-stream': {} } } },
      },
    },
    '/events': {
      get: { operationId: 'events', responses: { 200: { content: { 'text/event-stream': { schema: number } } } } },
    },
    '/lines': {
      get: { operationId: 'lines', responses: { 200: { content: { 'application/jsonl': { schema: number } } } } },
    },
  },
} as unknown as Document

const get = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'

type Scope = { signal: AbortSignal }
type Give = (scope: Scope) => Promise<object>

/** Serves streams on a port. `response` resolves to the server's next ServerResponse. */
async function serve(t: Test, give: Give, options: Served = {}) {
  const app = await serveDocument(document, {
    handlers: Object.fromEntries(['a', 'events', 'lines'].map((name) => [name, give as unknown as AnyHandler])),
    ...options,
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const response = async () => (await once(app.server, 'request'))[1] as ServerResponse
  return { app, port, url: `http://127.0.0.1:${port}/a`, base: `http://127.0.0.1:${port}`, response }
}

/** Returns a load shedder whose handlers respond as `run` says. */
const shedderOf = (run: (done: (error: Error) => void) => void): LoadShedder => ({
  shedLoad: () => undefined,
  runWithTimeout: (_response, done) => run(done),
  close() {},
})

const streamOf = (body: unknown) => ({ status: 200, body })

/** Returns a source of `count` chunks of 10 kB and its state: the chunks read so far, and whether it has ended. */
function source(count: number) {
  const state = { taken: 0, isEnded: false }
  async function* parts() {
    try {
      while (state.taken < count) {
        state.taken++
        yield Buffer.alloc(10_000, 'a')
      }
    } finally {
      state.isEnded = true
    }
  }
  return { state, parts: parts() }
}

t.test('a client that does not read pauses the source, with at most one part beyond the write buffer', async (t) => {
  const count = 3_000
  const { state, parts } = source(count)
  const { port, response } = await serve(t, async () => streamOf(parts))
  const arriving = response()
  const { socket } = await openSocket(t, port)
  socket.pause()
  socket.write(get)
  const answer = await arriving
  let [before, most] = [-1, 0]
  await until(async () => {
    most = Math.max(most, answer.writableLength)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const isStill = state.taken > 2 && state.taken === before
    before = state.taken
    return isStill
  }, 'the source to stop')
  t.ok(state.taken < count, `${state.taken} of ${count} parts were read`)
  t.ok(answer.writableLength <= answer.writableHighWaterMark + 11_000, `${answer.writableLength} bytes wait`)
  socket.resume()
  await until(() => state.isEnded, 'the end of the source')
  t.equal(state.taken, count)
})

/** Returns the longest time in milliseconds between two turns of the event loop within `time` milliseconds. */
async function longestGap(time: number): Promise<number> {
  const end = performance.now() + time
  let longest = 0
  for (let last = performance.now(); last < end; ) {
    await new Promise((resolve) => setImmediate(resolve))
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  return longest
}

t.test('sources that always have an item ready leave turns of the event loop to other work', async (t) => {
  const time = 1_000
  async function* ready(item: unknown) {
    for (const end = performance.now() + time; performance.now() < end; ) yield item
  }
  const bytes = Buffer.alloc(100, 'a')
  const script = `const socket = require('node:net').connect(process.argv[1], '127.0.0.1')
    socket.resume().write('GET /lines HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')
    console.log('sent')`
  /** Sends a request from a process that reads all the time, also while the service blocks its own event loop. */
  const read = async (port: number): Promise<() => Promise<unknown>> => {
    const client = spawnProcess([process.execPath, '-e', script, String(port)])
    await client.find('stdout', /^sent$/m)
    return () => client.stop('SIGKILL')
  }
  /** Sends requests on connections that read nothing. */
  const ignore = (path: string) => async (port: number) => {
    const opened = await Promise.all(Array.from({ length: 100 }, () => openSocket(t, port)))
    for (const { socket } of opened) socket.pause().write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    return async () => {
      for (const { socket } of opened) socket.destroy()
    }
  }
  const cases: [what: string, open: typeof read, give: () => unknown][] = [
    ['a client that reads', read, () => ready(1)],
    ['100 clients that do not read', ignore('/lines'), () => ready(1)],
    ['100 clients that do not read a Readable', ignore('/a'), () => Readable.from(ready(bytes))],
  ]
  for (const [what, open, give] of cases) {
    const { app, port } = await serve(t, async () => streamOf(give()))
    const close = await open(port)
    const gap = await longestGap(time)
    t.ok(gap < time * 0.7, `${what}: ${Math.round(gap)} ms`)
    await close()
    await app.close()
  }
})

t.test('a disconnect aborts the signal and ends the source', async (t) => {
  const ended = { generator: source(1_000_000), stream: new Readable({ read() {} }) }
  ended.stream.push('a')
  let signal: AbortSignal | undefined
  for (const body of [ended.generator.parts, ended.stream]) {
    const { port } = await serve(t, async (scope) => {
      signal = scope.signal
      return streamOf(body)
    })
    const { socket, receives } = await openSocket(t, port, get)
    await receives(/a/)
    t.equal(signal?.aborted, false)
    socket.destroy()
    await until(() => signal?.aborted, 'the signal')
    t.match(signal?.reason, { name: 'AbortError', message: 'the connection is closed' })
  }
  await until(() => ended.generator.state.isEnded && ended.stream.destroyed, 'the end of the sources')
})

t.test('a disconnect before the stream begins ends it as well', async (t) => {
  const body = new Readable({ read() {} })
  let isCalled = false
  const { port } = await serve(t, async ({ signal }) => {
    isCalled = true
    await once(signal, 'abort')
    return streamOf(body)
  })
  const { socket } = await openSocket(t, port, get)
  await until(() => isCalled, 'the handler')
  socket.destroy()
  await until(() => body.destroyed, 'the end of the stream')
})

t.test('a handler over its time limit is aborted, and its late stream is ended', async (t) => {
  const late = new Readable({ read() {} })
  let reason: unknown
  const { url } = await serve(
    t,
    async ({ signal }) => {
      await once(signal, 'abort')
      reason = signal.reason
      return streamOf(late)
    },
    { limits: { handlerTime: 50 } },
  )
  t.match(await httpRequest(url), { status: 503 })
  t.match(reason, { message: 'the handler took too long' })
  await until(() => late.destroyed, 'the end of the stream')
})

t.test('a stream that is returned after a disconnect and the handler timeout is ended', async (t) => {
  const late = new Readable({ read() {} })
  let isTimedOut = false
  const { port } = await serve(
    t,
    async ({ signal }) => {
      await once(signal, 'abort')
      await until(() => isTimedOut, 'the timeout')
      return streamOf(late)
    },
    {
      shedder: shedderOf((done) => {
        setTimeout(() => {
          done(overloaded('the service took too long'))
          isTimedOut = true
        }, 100)
      }),
    },
  )
  const { socket } = await openSocket(t, port, get)
  socket.destroy()
  await until(() => late.destroyed, 'the end of the stream')
})

t.test('a stream that is returned between the handler timeout and its response is ended', async (t) => {
  const late = new Readable({ read() {} })
  const timeout = new AbortController()
  const { url } = await serve(
    t,
    async () => {
      await once(timeout.signal, 'abort')
      return streamOf(late)
    },
    {
      shedder: shedderOf((done) => {
        done(overloaded('the service took too long'))
        timeout.abort()
      }),
    },
  )
  t.match(await httpRequest(url), { status: 503 })
  await until(() => late.destroyed, 'the end of the stream')
})

t.test('a shutdown aborts the signal, and a byte stream is sent to its end', async (t) => {
  const seen: boolean[] = []
  const { app, url } = await serve(t, async ({ signal }) => {
    seen.push(signal.aborted)
    async function* parts() {
      yield Buffer.from('before ')
      if (!signal.aborted) await once(signal, 'abort')
      yield Buffer.from((signal.reason as Error).message)
    }
    return streamOf(parts())
  })
  const answer = httpRequest(url)
  await until(() => seen.length > 0, 'the handler')
  await app.close()
  t.match(await answer, { status: 200, body: 'before the service is shutting down' })
})

t.test('a request that arrives during a shutdown starts with an aborted signal', async (t) => {
  const seen: boolean[] = []
  const { app, port } = await serve(
    t,
    async ({ signal }) => {
      seen.push(signal.aborted)
      return streamOf(Buffer.from('a'))
    },
    { keepAliveGrace: 300 },
  )
  const { socket, receives } = await openSocket(t, port, get)
  await receives(/a$/)
  const closing = app.close()
  setTimeout(() => socket.write(get), 100)
  await closing
  t.same(seen, [false, true])
})

t.test('a stream that fails after its first part closes the connection without the last chunk', async (t) => {
  async function* parts(part: unknown) {
    yield Buffer.from('first')
    if (part === undefined) throw new Error('broken')
    yield part as Uint8Array
  }
  for (const second of [undefined, 'a text']) {
    const { url } = await serve(t, async () => streamOf(parts(second)))
    await t.rejects(httpRequest(url), { code: 'ECONNRESET' })
  }
})

t.test('a body that is not a byte stream becomes a 500', async (t) => {
  const streams = [1, 2, 3].map(() => new Readable({ read() {} }))
  const outcomes: object[] = [
    { status: 200, body: 'a text' },
    { status: 200, body: { a: 1 } },
    { status: 201, body: streams[0] },
    { status: 200, headers: { Other: 'a' }, body: streams[1] },
    { status: 200, contentType: 'image/png', body: streams[2] },
    { status: 200, body: Readable.from(['no bytes']) },
  ]
  for (const outcome of outcomes) {
    const { url } = await serve(t, async () => outcome)
    t.match(await httpRequest(url), { status: 500, headers: { etag: undefined } })
  }
  await until(() => streams.every(({ destroyed }) => destroyed), 'the end of the streams')
  const { url } = await serve(t, async () => {
    throw 'no error'
  })
  t.match(await httpRequest(url), { status: 500 })
})

t.test('nginx is told to send each item of a stream at once, but to buffer bytes', async (t) => {
  const { base } = await serve(t, async () => streamOf(Readable.from([])))
  for (const method of ['GET', 'HEAD'])
    for (const [path, told] of [
      ['/events', 'no'],
      ['/lines', 'no'],
      ['/a', undefined],
    ]) {
      const { headers } = await httpRequest(`${base}${path}`, { method })
      t.equal(headers['x-accel-buffering'], told, `${method} ${path}`)
    }
})

t.test('a handler may let nginx buffer its stream', async (t) => {
  const header = { 'X-Accel-Buffering': { schema: { type: 'string' } } }
  const lines = { operationId: 'lines', responses: { 200: { headers: header, content: { 'application/jsonl': {} } } } }
  const own = { ...document, paths: { '/lines': { get: lines } } } as unknown as Document
  const handler = (async () => ({ ...streamOf(Readable.from([])), headers: { 'X-Accel-Buffering': 'yes' } })) as never
  const app = await serveDocument(own, { handlers: { lines: handler } })
  t.teardown(() => app.close())
  t.equal((await app.inject('/lines')).headers['x-accel-buffering'], 'yes')
})

t.test('HEAD has the headers of GET and ends the source', async (t) => {
  const body = new Readable({ read() {} })
  const { url } = await serve(t, async () => ({ ...streamOf(body), headers: { ETag: '"1"' } }))
  const answer = await httpRequest(url, { method: 'HEAD' })
  t.match(answer, { status: 200, headers: { etag: '"1"', 'content-type': 'application/octet-stream' } })
  t.equal(answer.headers['content-length'], undefined)
  t.equal(body.destroyed, true)
})

t.test('a shutdown ends event streams at once and JSON Lines when their handler ends', async (t) => {
  const sources: { isEnded: boolean }[] = []
  const { app, port } = await serve(t, async ({ signal }) => {
    const state = { isEnded: false }
    sources.push(state)
    const isEvents = sources.length === 1
    async function* items() {
      try {
        yield isEvents ? { data: 1 } : 1
        // The handler of the event stream never continues.
        await (isEvents ? new Promise(() => {}) : once(signal, 'abort'))
        yield 2
      } finally {
        state.isEnded = true
      }
    }
    return streamOf(items())
  })
  const events = await openSocket(t, port, get.replace('/a', '/events'))
  await events.receives(/data: 1/)
  const lines = await openSocket(t, port, get.replace('/a', '/lines'))
  await lines.receives(/\r\n1\n/)
  await app.close()
  t.match(await events.closed(), /data: 1\n\n\r\n0\r\n\r\n$/, 'the last chunk')
  t.match(await lines.closed(), /\r\n1\n\r\n2\r\n2\n\r\n0\r\n\r\n$/, 'all lines and the last chunk')
  t.equal(sources[1]?.isEnded, true)
})

/** Returns a logger at error level and the lines that it writes. */
function errorLog() {
  const lines: { request_id: string; err: { message: string }; msg: string }[] = []
  return { lines, logger: { level: 'error', stream: { write: (line: string) => lines.push(JSON.parse(line)) } } }
}

t.test('a stream that fails before its first part becomes a 500', async (t) => {
  async function* failing() {
    yield* []
    throw new Error('no source')
  }
  const bodies: [body: () => AsyncIterable<unknown>, message: RegExp][] = [
    [failing, /no source/],
    [() => Readable.from([{ data: 'one' }]), /does not match its schema|must be a Uint8Array/],
  ]
  for (const path of ['a', 'events', 'lines'])
    for (const [body, message] of bodies) {
      const { lines, logger } = errorLog()
      const { base } = await serve(t, async () => streamOf(body()), { logger })
      const answer = await httpRequest(`${base}/${path}`)
      t.match(answer, { status: 500, body: '50000' }, path)
      t.match(lines, [{ request_id: answer.headers['x-request-id'], err: { message }, msg: 'request failed' }], path)
    }
})

t.test('a stream that fails before it is read becomes a 500', async (t) => {
  // Responses wait for the end of a turn of the event loop, and a file that is missing is noticed before that.
  const later: LoadShedder = {
    ...shedderOf(() => {}),
    runWithTimeout: (response, done) =>
      void response.then((value) => setImmediate(() => setImmediate(() => done(undefined, value)))),
  }
  const { lines, logger } = errorLog()
  const failing = async () => {
    const body = new Readable({ read() {} })
    setImmediate(() => body.destroy(new Error('no file')))
    return streamOf(body)
  }
  const { url } = await serve(t, failing, { logger, shedder: later })
  t.match(await httpRequest(url), { status: 500, body: '50000' })
  t.match(lines, [{ err: { message: 'no file' }, msg: 'request failed' }])
})

t.test('a stream that fails after its head is logged as an error', async (t) => {
  const items: Record<string, unknown> = { a: Buffer.from('a'), events: { data: 1 }, lines: 1 }
  for (const [path, item] of Object.entries(items))
    for (const second of ['thrown', { data: 'one' }]) {
      const { lines, logger } = errorLog()
      const { port } = await serve(
        t,
        async () => {
          async function* parts() {
            yield item
            if (second === 'thrown') throw new Error('a broken source')
            yield second
          }
          return streamOf(parts())
        },
        { logger },
      )
      const { closed } = await openSocket(t, port, get.replace('/a', `/${path}`))
      const id = /x-request-id: (\S+)/i.exec(await closed())?.[1]
      const message = second === 'thrown' ? 'a broken source' : /does not match its schema|must be a Uint8Array/
      t.match(lines, [{ request_id: id, err: { message }, msg: 'request failed' }], path)
    }
})

t.test('an event stream sends its head before a slow first event, whose failure is logged', async (t) => {
  const { lines, logger } = errorLog()
  let fail = (_error: Error) => {}
  async function* events() {
    yield* []
    await new Promise((_resolve, reject) => {
      fail = reject
    })
  }
  const { port } = await serve(t, async () => streamOf(events()), { logger })
  const { receives, closed } = await openSocket(t, port, get.replace('/a', '/events'))
  await receives(/^HTTP\/1.1 200 .*\r\n\r\n3\r\n:\n\n\r\n$/s)
  t.same(lines, [])
  fail(new Error('a late failure'))
  t.notMatch(await closed(), /\r\n0\r\n/)
  t.match(lines, [{ err: { message: 'a late failure' }, msg: 'request failed' }])
})

t.test('errors of a source after a disconnect are not logged', async (t) => {
  const { lines, logger } = errorLog()
  for (const path of ['a', 'events', 'lines']) {
    let isEnded = false
    const { port } = await serve(
      t,
      async ({ signal }) => {
        async function* parts() {
          try {
            yield path === 'a' ? Buffer.from('1') : path === 'events' ? { data: 1 } : 1
            await once(signal, 'abort')
            throw new Error('aborted')
          } finally {
            isEnded = true
          }
        }
        return streamOf(parts())
      },
      { logger },
    )
    const { socket, receives } = await openSocket(t, port, get.replace('/a', `/${path}`))
    await receives(/\r\n\r\n.+/s)
    socket.destroy()
    await until(() => isEnded, 'the end of the source')
  }
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.same(lines, [])
})

t.test('an invalid item is never sent', async (t) => {
  const { base } = await serve(t, async () => streamOf(Readable.from(['one'])))
  t.match(await httpRequest(`${base}/lines`), { status: 500 })
  const events = await serve(t, async () => streamOf(Readable.from([{ data: 1 }, { data: 'one' }])))
  const broken = await openSocket(t, events.port, get.replace('/a', '/events'))
  t.notMatch(await broken.closed(), /one/)
  const { base: other } = await serve(t, async () => streamOf([1]))
  for (const path of ['lines', 'events']) t.match(await httpRequest(`${other}/${path}`), { status: 500 }, path)
})
