import type { IncomingMessage } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { until } from '../../scripts/system/poll.ts'
import type { AppOptions } from '../../src/app.ts'
import { openMemory } from '../../src/store/memory.ts'
import { openSocket } from '../support/open-socket.ts'
import { createTestApp, token } from '../support/test-app.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const head = (framing: string) =>
  `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`

const chunked = head('Transfer-Encoding: chunked')

/** Starts a listening service; `requests` lists the requests whose head has arrived. */
async function listening(t: Test, options: Partial<AppOptions> = {}) {
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
  return {
    verifyToken: () => new Promise<typeof client>((resolve) => waiting.push(() => resolve(client))),
    waiting,
  }
}

const plant = (id: number, length: number) => JSON.stringify({ id, name: 'raw', more: 'x'.repeat(length) })

t.test('no body is read while authentication is pending', async (t) => {
  const { verifyToken, waiting } = waitingVerifier()
  const { port, requests } = await listening(t, { verifyToken })
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
  const { port } = await listening(t, { verifyToken })
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
  const { port, requests, shed } = await listening(t, { limits: { bodyMemory: 150_000 } })
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
  const { port, requests } = await listening(t, { store })
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
