import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Document } from 'fastify-contract-cli/testing'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import type { Verifier } from '../../src/auth/verifiers.ts'
import type { RequestContext } from '../../src/http/request-context.ts'
import { createLoadShedder, defaultLimits } from '../../src/limits/limits.ts'
import type { AnyHandler } from '../../src/routes/request-steps.ts'
import { serveDocument } from '../support/serve-document.ts'

const bodies = {
  'image/png': 'image/png',
  'text/plain': 'text/plain',
  'application/json': 'application/json',
  'multipart/form-data': 'multipart/form-data; boundary=b',
}

const schema = { type: 'object', properties: { a: { type: 'string' } } }

const document = {
  openapi: '3.1.0',
  info: { title: 'Departed clients', version: '1' },
  security: [{ token: [] }],
  paths: {
    '/a': {
      post: {
        operationId: 'a',
        requestBody: {
          content: Object.fromEntries(
            Object.keys(bodies).map((type) => [type, type.startsWith('multipart') ? { schema } : {}]),
          ),
        },
        responses: { 200: { content: { 'image/png': {} } } },
      },
    },
    '/open': { get: { operationId: 'open', security: [], responses: { 200: { content: { 'image/png': {} } } } } },
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
} as unknown as Document

const head = (contentType: string) =>
  `POST /a HTTP/1.1\r\nHost: a\r\nContent-Type: ${contentType}\r\nContent-Length: 1000\r\n\r\n`

type Given = { body: AsyncIterable<Buffer>; signal: AbortSignal }

/** Serves the document with at most `inFlight` handlers at a time, and records the requests that have ended. */
async function serve(t: Test, handler: (given: Given) => Promise<unknown>, token: Verifier, inFlight = 1) {
  const shedder = createLoadShedder({ ...defaultLimits, eventLoopDelay: 60_000, inFlight }, () => {})
  t.teardown(() => shedder.close())
  const ended: RequestContext[] = []
  const app = await serveDocument(document, {
    handlers: { a: handler as unknown as AnyHandler, open: handler as unknown as AnyHandler },
    verifiers: { token },
    observer: { begin() {}, end: (context) => ended.push(context) },
    shedder,
  })
  const listen = async () => {
    await app.listen({ host: '127.0.0.1', port: 0 })
    return (app.server.address() as AddressInfo).port
  }
  return { app, listen, ended, shedder }
}

const rest = { 'a part of its body': 'abc', 'its whole body': 'a'.repeat(1_000) }
const cases = Object.values(bodies).flatMap((contentType) =>
  Object.entries(rest).map(([sent, body]) => ({ contentType, sent, body })),
)

for (const { contentType, sent, body } of cases)
  t.test(`no handler runs for a client that disconnects during verification: ${sent} as ${contentType}`, async (t) => {
    const waiting: (() => void)[] = []
    let calls = 0
    const { app, listen, ended, shedder } = await serve(
      t,
      async () => {
        calls++
        return await new Promise(() => {})
      },
      (_request, done) => waiting.push(() => done(undefined, { name: 'a client', scopes: [] })),
    )
    const { socket } = await openSocket(t, await listen(), head(contentType) + body)
    await until(() => waiting.length === 1, 'the token is looked at')
    socket.destroy()
    await until(() => ended.length === 1, 'the end of the request')
    for (const go of waiting) go()
    await sleep(50)
    t.equal(calls, 0)
    t.equal(shedder.shedLoad(), undefined, 'no handler is in flight')
    // A truncated body is malformed HTTP.
    t.match(ended, [{ operation: 'a', status: body.length === 1_000 ? 0 : 400 }])
    t.equal(ended.length, 1)
    await app.close()
  })

t.test('a pipelined request and its signal end with the connection', async (t) => {
  const signals: AbortSignal[] = []
  const { app, listen, ended } = await serve(
    t,
    async ({ signal }) => {
      signals.push(signal)
      return await new Promise(() => {})
    },
    (_request, done) => done(),
    2,
  )
  const { socket } = await openSocket(t, await listen(), 'GET /open HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2))
  await until(() => signals.length === 2, 'both handlers')
  socket.destroy()
  await until(() => ended.length === 2, 'the end of both')
  for (const { reason } of signals) t.match(reason, { message: 'the connection is closed' })
  t.match(ended, [{ status: 0 }, { status: 0 }])
  await app.close()
})

t.test('a handler whose request was rejected meanwhile does not change its record', async (t) => {
  for (const fails of [false, true]) {
    let isDone = false
    const { app, listen, ended } = await serve(
      t,
      async () => {
        await sleep(50)
        isDone = true
        if (fails) throw new Error('what a handler throws then')
        return { status: 200, body: Buffer.from('a') }
      },
      (_request, done) => done(),
    )
    const malformed = 'GET /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n'
    const { closed } = await openSocket(t, await listen(), malformed)
    t.match(await closed(), /^HTTP\/1\.1 400 .*"error":40000/s)
    await until(() => isDone && ended.length === 1, 'the end of the request')
    t.match(ended, [{ operation: 'open', status: 400, error: 40000, rejection: 'malformedRequest' }])
    await app.close()
  }
})

t.test('a handler that starts after the disconnect gets a failed stream', async (t) => {
  const outcomes: unknown[] = []
  const { app, listen, ended } = await serve(
    t,
    async ({ body, signal }) => {
      outcomes.push(signal.reason, await buffer(body).catch((error) => error))
      throw new Error('what a handler throws then')
    },
    (_request, done) => done(),
  )
  const waiting: (() => void)[] = []
  app.addHook('preValidation', (_request, _reply, done) => {
    waiting.push(done)
  })
  const { socket } = await openSocket(t, await listen(), `${head('image/png')}abc`)
  await until(() => waiting.length === 1, 'the hook')
  socket.destroy()
  await until(() => ended.length === 1, 'the end of the request')
  for (const go of waiting) go()
  await until(() => outcomes.length === 2, 'the outcomes')
  t.match(outcomes, [
    { name: 'AbortError', message: 'the connection is closed' },
    { name: 'ContractError', message: 'the body is incomplete' },
  ])
  await app.close()
})
