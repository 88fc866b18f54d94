import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { collectGarbage } from 'fastify-contract-test-support/heap'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { listVerifier, newToken } from '../../packages/fastify-contract/src/auth/tokens.ts'
import type { ShedReason } from '../../packages/fastify-contract/src/limits/limits.ts'
import type { AppOptions } from '../../src/app.ts'
import { openMemory } from '../../src/store/memory.ts'
import { assertContractResponse } from '../support/contract.ts'
import { type Case, request, runCases } from '../support/raw-http.ts'
import { createTestApp, token } from '../support/test-app.ts'

/** Starts a listening service; `send` sends a write and checks the response against the contract. */
async function listening(t: Test, options: Partial<AppOptions> = {}) {
  const shed: ShedReason[] = []
  const { listen } = await createTestApp(t, { shed: (reason) => shed.push(reason), ...options })
  const port = await listen()
  const send = async (headers: Record<string, string> = {}) => {
    const answer = await httpRequest(`http://127.0.0.1:${port}/plants`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: '{"id":1,"name":"raw"}',
    })
    assertContractResponse(t, { method: 'POST', path: '/plants', ...answer })
    const { status, body } = answer
    return { status, error: JSON.parse(body).error, retryAfter: answer.headers['retry-after'] }
  }
  return { port, send, shed }
}

/** Returns a store whose writes stay pending until `letGo` is called. */
function held() {
  const waiting: (() => void)[] = []
  return {
    store: {
      ...openMemory(),
      create: () => new Promise<'created'>((resolve) => waiting.push(() => resolve('created'))),
    },
    waiting,
    letGo: () => {
      for (const resolve of waiting.splice(0)) resolve()
    },
  }
}

const unavailable = { status: 503, error: 50300, retryAfter: /^[123]$/ }

t.test('a handler that exceeds HANDLER_TIMEOUT gets 503', async (t) => {
  const { store, waiting, letGo } = held()
  const { send, shed } = await listening(t, { store, limits: { handlerTime: 100, inFlight: 1 } })
  const start = performance.now()
  t.match(await send(), unavailable)
  t.ok(performance.now() - start > 90)
  t.match(await send(), unavailable)
  t.same(shed, ['in_flight'], 'a handler that has timed out is still in flight')
  letGo()
  const next = send()
  await until(() => waiting.length === 1, 'the store has the create')
  letGo()
  t.match(await next, { status: 200 })
})

t.test('a request beyond IN_FLIGHT_LIMIT gets 503', async (t) => {
  const { store, waiting, letGo } = held()
  const { send, shed } = await listening(t, { store, limits: { inFlight: 2 } })
  const taken = [send(), send()]
  await until(() => waiting.length === 2, 'the store has both creates')
  t.match(await Promise.all([send(), send()]), [unavailable, unavailable])
  t.same(shed, ['in_flight', 'in_flight'])
  letGo()
  for (const { status } of await Promise.all(taken)) t.equal(status, 200)
})

t.test('a connection whose request was shed is not read for half a second', async (t) => {
  const { store, waiting, letGo } = held()
  const { port, send } = await listening(t, { store, limits: { inFlight: 1 } })
  const taken = send()
  await until(() => waiting.length === 1, 'the store has the create')
  const text = request({})
  const { receives, socket } = await openSocket(t, port, text)
  await receives(/^HTTP\/1\.1 503 .*50300/s)
  const shedAt = performance.now()
  // The pause begins in the turn after the response.
  await sleep(50)
  socket.write(text)
  await receives(/50300.*HTTP\/1\.1 503 /s)
  t.ok(performance.now() - shedAt > 400, `${performance.now() - shedAt} ms`)
  letGo()
  await taken
})

t.test('a late event loop sheds requests with 503', async (t) => {
  const { send, shed } = await listening(t, { limits: { eventLoopDelay: 100 } })
  /** Retries for ten seconds, because other tests may keep the machine busy. */
  const serves = async () => {
    for (let waited = 0; waited < 10_000; waited += 50) {
      if ((await send()).status === 200) return true
      await sleep(50)
    }
    return false
  }
  t.ok(await serves())
  shed.length = 0
  const answers: Promise<{ status: number }>[] = []
  // Three blocks are enough on an idle machine. On a busy one, a request is sometimes read after the measurement.
  for (let block = 0; block < 50 && shed.length === 0; block++) {
    // Blocks the event loop without using CPU.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    answers.push(send())
    // Yield, so that the request of this block is read after the delay of the next.
    await sleep(1)
  }
  const refused = (await Promise.all(answers)).filter(({ status }) => status === 503)
  t.ok(refused.length > 0)
  t.same(shed, Array(refused.length).fill('event_loop_delay'))
  t.ok(await serves(), 'it recovers')
})

t.test('a client over its rate limit gets 429', async (t) => {
  const [first, second] = [newToken(), newToken()]
  const { send } = await listening(t, { verifyToken: listVerifier([first, second]), limits: { requests: 2 } })
  const as = (token: string) => send({ authorization: `Bearer ${token}` })
  t.match([await as(first), await as('wrong'), await as(first)], [{ status: 200 }, { status: 401 }, { status: 200 }])
  // Up to 30 seconds; each second that the busy machine took is one less.
  t.match(await as(first), { status: 429, error: 42900, retryAfter: /^(2\d|30)$/ })
  t.match(await as(second), { status: 200 }, 'another client')
})

t.test('an address over its limit of authentication failures gets 429', async (t) => {
  const { send } = await listening(t, { limits: { authFailures: 3 } })
  const wrong = [{ authorization: 'Bearer wrong' }, { authorization: '' }, { authorization: 'Bearer "' }]
  for (const headers of wrong) t.match(await send(headers), { status: 401 })
  for (const headers of wrong) t.match(await send(headers), { status: 429, error: 42900, retryAfter: /^(1\d|20)$/ })
  t.match(await send(), { status: 200 }, 'a valid token from the same address still works')
})

t.test('X-Forwarded-For counts only when a trusted proxy sends it', async (t) => {
  const from = (address: string) => ({ authorization: 'Bearer wrong', 'x-forwarded-for': address })
  const trusting = await listening(t, { trustProxy: ['127.0.0.0/8'], limits: { authFailures: 1 } })
  t.match(await trusting.send(from('192.0.2.1')), { status: 401 })
  t.match(await trusting.send(from('192.0.2.1')), { status: 429 })
  t.match(await trusting.send(from('192.0.2.2')), { status: 401 })
  t.match(await trusting.send(from('192.0.2.3, 192.0.2.2')), { status: 429 }, 'the last hop before the proxy counts')
  const other = await listening(t, { limits: { authFailures: 1 } })
  t.match(await other.send(from('192.0.2.1')), { status: 401 })
  t.match(await other.send(from('192.0.2.2')), { status: 429 })
})

t.test('a port that a proxy adds does not change the client address', async (t) => {
  const { send } = await listening(t, { trustProxy: ['127.0.0.1'], limits: { authFailures: 1 } })
  const from = (address: string) => send({ authorization: 'Bearer wrong', 'x-forwarded-for': address })
  for (const [first, second] of [
    ['192.0.2.1:1001', '192.0.2.1:1002'],
    ['[2001:db8::1]:1001', '2001:db8::1'],
    ['unknown', 'no address'],
  ] as const) {
    t.match(await from(first), { status: 401 })
    t.match(await from(second), { status: 429 })
  }
})

const large: Case[] = [
  { name: 'a small head', bytes: request(), status: 200 },
  {
    name: 'a large head',
    bytes: request({ headers: [`X-Large: ${'x'.repeat(2_048)}`] }),
    status: 431,
    error: 43100,
    closes: true,
  },
]

t.test('a header section over the limit gets 431', async (t) => {
  const { port } = await listening(t, { limits: { headers: 2_048 } })
  await runCases(t, port, large)
})

t.test('connections over the limit are closed', async (t) => {
  const { port } = await listening(t, { limits: { connections: 2 } })
  const first = await openSocket(t, port)
  const second = await openSocket(t, port)
  const third = await openSocket(t, port)
  t.equal(await third.closed(), '', 'a connection beyond the limit is closed')
  for (const { socket, receives } of [first, second]) {
    socket.write(request())
    t.match(await receives(/\r\n\r\n\{/), /^HTTP\/1\.1 200 OK\r\n/, 'those within the limit are served')
  }
})

t.test('a connection without a request is closed', async (t) => {
  const { port } = await listening(t, { limits: { keepAliveTime: 100, headersTime: 100 } })
  const kept = await openSocket(t, port, request())
  const silent = await openSocket(t, port)
  // 5 s is less than the default timeouts.
  t.match(await kept.closed(5_000), /^HTTP\/1\.1 200 OK\r\n/, 'after its request')
  t.match(await silent.closed(5_000), /^HTTP\/1\.1 408 Request Timeout\r\n/, 'before any')
})

t.test('a client that does not read is cut off', async (t) => {
  const { port } = await listening(t, { limits: { requestTime: 200, handlerTime: 200 } })
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let isClosed = false
  socket
    .pause()
    .on('error', () => {})
    .on('close', () => {
      isClosed = true
    })
  const batch = Buffer.concat(Array(1_000).fill(request()))
  for (let waited = 0; waited < 10_000 && !isClosed; waited += 10) {
    if (socket.writableLength < batch.length) socket.write(batch)
    await sleep(10)
  }
  t.ok(isClosed)
})

t.test('a client that does not read is cut off after CONNECT too', async (t) => {
  const { app, listen } = await createTestApp(t, { limits: { requestTime: 100, handlerTime: 100 } })
  // Makes every write pend, as if the client read nothing.
  app.server.on('connection', (socket) => Object.assign(socket, { _write() {}, _writev() {} }))
  const port = await listen()
  const client = await openSocket(t, port, `${request()}CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n`)
  t.equal(await client.closed(5_000), '')
})

t.test("the header timeout may exceed both Node's default and the request timeout", async (t) => {
  for (const times of [
    { headersTime: 400_000, requestTime: 500_000 },
    { headersTime: 60_000, requestTime: 30_000 },
  ]) {
    const { send } = await listening(t, { limits: times })
    t.match(await send(), { status: 200 })
  }
})

const head = (framing: string) =>
  `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`

const chunked = head('Transfer-Encoding: chunked')

/** Starts a listening service; `requests` lists the requests whose head has arrived. */
async function listeningWithRequests(t: Test, options: Partial<AppOptions> = {}) {
  const shed: string[] = []
  const { app, listen } = await createTestApp(t, { shed: (reason) => shed.push(reason), ...options })
  const requests: IncomingMessage[] = []
  app.server.prependListener('request', (request: IncomingMessage) => requests.push(request))
  return { port: await listen(), requests, shed }
}

/** Returns a verifier that keeps every token pending until the test calls a function of `waiting`. */
function waitingVerifier() {
  const waiting: (() => void)[] = []
  const client = { name: 'a client', scopes: [] }
  return { verifyToken: () => new Promise<typeof client>((resolve) => waiting.push(() => resolve(client))), waiting }
}

const plant = (id: number, length: number) => JSON.stringify({ id, name: 'raw', more: 'x'.repeat(length) })

t.test('no body is read while authentication is pending', async (t) => {
  const { verifyToken, waiting } = waitingVerifier()
  const { port, requests } = await listeningWithRequests(t, { verifyToken })
  const body = plant(1, 10_000)
  const start = head(`Content-Length: ${body.length}`)
  const { socket, receives } = await openSocket(t, port, start)
  await until(() => waiting.length === 1, 'the token is being verified')
  await new Promise<void>((resolve) => socket.write(body, () => resolve()))
  // The request of a later connection arrives after these bytes, so the service has had time to read them.
  await openSocket(t, port, head('Content-Length: 0'))
  await until(() => waiting.length === 2, 'the second token is being verified')
  t.equal(requests[0]?.socket.bytesRead, start.length)
  for (const go of waiting.splice(0)) go()
  await receives(/^HTTP\/1.1 200 /)
})

t.test('chunks of one byte that arrive with the header section cost less than 20 bytes of memory each', async (t) => {
  const { verifyToken, waiting } = waitingVerifier()
  const { port } = await listeningWithRequests(t, { verifyToken })
  const body = plant(1, 10_000)
  const bytes = `${chunked}${[...body].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`
  const sockets: Awaited<ReturnType<typeof openSocket>>[] = []
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < 20; n++) sockets.push(await openSocket(t, port, bytes))
  await until(() => waiting.length === 20, 'all tokens are being verified')
  collectGarbage()
  const cost = (process.memoryUsage().heapUsed - before) / 20
  t.ok(cost < 20 * body.length, `${Math.round(cost)} bytes each`)
  for (const go of waiting.splice(0)) go()
  for (const { receives } of sockets) await receives(/^HTTP\/1.1 200 /)
})

t.test('bodies that arrive in parts beyond the limit get 503, small ones do not', async (t) => {
  const { port, requests, shed } = await listeningWithRequests(t, { limits: { bodyMemory: 150_000 } })
  const part = `${chunked}10000\r\n${'x'.repeat(65_536)}`
  const withheld = await openSocket(t, port, part)
  await until(() => requests[0]?.socket.bytesRead === part.length, 'the first part has arrived')
  const refused = await openSocket(t, port, part)
  t.match(await refused.receives(/\}$/), /^HTTP\/1.1 503 .*retry-after: [123]\r\n.*"error":50300/s)
  t.same(shed, ['body_memory'])
  const small = plant(1, 0)
  const other = await openSocket(t, port, head(`Content-Length: ${small.length}`) + small)
  await other.receives(/^HTTP\/1.1 200 /)
  withheld.socket.destroy()
  await until(() => requests[0]?.destroyed, 'the connection is closed')
  const whole = plant(2, 65_000)
  const next = await openSocket(t, port, `${chunked}${whole.length.toString(16)}\r\n${whole}\r\n0\r\n\r\n`)
  await next.receives(/^HTTP\/1.1 200 /)
})

t.test('values that would exceed the memory limit get 503, small ones do not', async (t) => {
  const waiting: (() => void)[] = []
  const store = {
    ...openMemory(),
    create: () => new Promise<'created'>((resolve) => waiting.push(() => resolve('created'))),
  }
  const { create } = await createTestApp(t, { store, limits: { bodyMemory: 100_000 } })
  const large = create(plant(1, 2_000))
  await until(() => waiting.length === 1, 'the store has the create')
  t.match(await create(plant(2, 2_000)), { status: 503, headers: { 'retry-after': /^[123]$/ }, body: { error: 50300 } })
  const small = create(plant(3, 0))
  await until(() => waiting.length === 2, 'the store has the second create')
  for (const go of waiting.splice(0)) go()
  t.match(await Promise.all([large, small]), [{ status: 200 }, { status: 200 }])
  const next = create(plant(2, 2_000))
  await until(() => waiting.length === 1, 'the store has the next write')
  for (const go of waiting.splice(0)) go()
  t.match(await next, { status: 200 })
})

t.test('a rejected body is released while its response waits for an earlier one', async (t) => {
  const store = { ...openMemory(), create: () => new Promise<never>(() => {}) }
  const { port, requests } = await listeningWithRequests(t, { store })
  const small = plant(1, 0)
  const items = Array(20_000).fill('{"25":0}').join()
  const bad = `{"id":"1","name":"raw","more":[${items}]}`
  const framed = (body: string) => head(`Content-Length: ${body.length}`) + body
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const { socket } = await openSocket(t, port, framed(small))
  for (let n = 1; n <= 20; n++) {
    socket.write(framed(bad))
    await until(() => requests[n]?.readableEnded || requests[n]?.complete, 'the body is read')
  }
  await until(() => {
    collectGarbage()
    return process.memoryUsage().heapUsed - before < 20 * bad.length
  }, '20 bodies use less memory than 20 times the size of one')
  socket.destroy()
})

t.test('a lone body is served whatever the limit', async (t) => {
  const { create } = await createTestApp(t, { limits: { bodyMemory: 1 } })
  t.match(await create(plant(1, 100_000)), { status: 200 })
})
