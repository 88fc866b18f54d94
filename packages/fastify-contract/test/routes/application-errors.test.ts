import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Document } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import { apiKey, bearer, type Verifier, type VerifierContext } from '../../src/auth/verifiers.ts'
import type { Observer } from '../../src/http/request-context.ts'
import { errorBody, type Served, serveDocument } from '../support/serve-document.ts'

/*
 * Errors of the functions that an application passes to the server. An uncaught exception or an unhandled rejection in
 * the process fails the test in which it occurs.
 */

const operation = (operationId: string, security: object[], content: object = { 'application/json': {} }) => ({
  post: {
    operationId,
    security,
    requestBody: { content: { 'application/json': {} } },
    responses: { 200: { description: '', content } },
  },
})

const bytes = {
  'application/octet-stream': { schema: { type: 'string', contentMediaType: 'application/octet-stream' } },
}

const document = {
  openapi: '3.1.0',
  info: { title: 'Errors', version: '1.0.0' },
  components: {
    securitySchemes: { a: { type: 'http', scheme: 'bearer' }, b: { type: 'apiKey', in: 'header', name: 'X-Key' } },
  },
  paths: {
    '/open': operation('open', []),
    '/a': operation('a', [{ a: [] }]),
    '/either': operation('either', [{ a: [] }, { b: [] }]),
    '/bytes': operation('bytes', [], bytes),
  },
} as unknown as Document

const boom = (): never => {
  throw new Error('boom')
}
const rejects = async (): Promise<never> => boom()
const rejectsWithNothing = async (): Promise<never> => {
  throw undefined
}

const post = (path: string, body = '{"a":1}') =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const garbage = 'GET / HTTP/1.1\r\nBad Header\r\n\r\n'

type Options = Omit<Served, 'verifiers'> & {
  verifiers?: Record<string, unknown> | ((context: VerifierContext) => Promise<unknown>)
}

/** Serves the document. `run` resolves with the statuses of the responses to what it writes to a connection. */
async function serve(t: Test, { handlers, verifiers, ...options }: Options) {
  let calls = 0
  const lines: string[] = []
  const ok = async () => {
    calls++
    return { status: 200, body: {} }
  }
  const pass: Verifier = (_request, done) => done()
  const app = await serveDocument(document, {
    handlers: { open: ok, a: ok, either: ok, bytes: ok, ...handlers } as never,
    verifiers: (typeof verifiers === 'function' ? verifiers : { a: pass, b: pass, ...verifiers }) as never,
    logger: { level: 'warn', stream: { write: (line) => void lines.push(line) } },
    ...options,
  })
  t.teardown(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const run = async (texts: string[], count: number) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    for (const text of texts) {
      socket.write(text)
      await sleep(10)
    }
    const statuses = () => [...received.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => Number(status))
    while (statuses().length < count) await once(socket, 'data')
    // Whatever fails later does so by then.
    await sleep(30)
    socket.destroy()
    return statuses()
  }
  return { app, run, lines, calls: () => calls }
}

t.test('an observer that throws or rejects is logged, and costs no response', async (t) => {
  const observers: [string, unknown][] = [
    ['begin throws', { begin: boom, end() {} }],
    ['end throws', { begin() {}, end: boom }],
    ['both reject', { begin: rejects, end: rejects }],
  ]
  for (const [name, observer] of observers) {
    const { run, lines } = await serve(t, { observer: observer as Observer })
    t.same(await run([post('/open')], 1), [200], name)
    t.same(await run([post('/open') + post('/open')], 2), [200, 200], name)
    t.same(await run([garbage], 1), [400], name)
    t.same(await run([post('/open') + garbage], 2), [200, 400], name)
    t.ok(lines.length >= 6 && lines.every((line) => line.includes('observer failed')), name)
  }
})

t.test('an error body that is a promise is logged, and the error is sent as text', async (t) => {
  const bodies: [string, unknown][] = [
    ['rejects', rejects],
    ['resolves', async () => errorBody({ kind: 'x', error: 1, statusCode: 400, message: '' } as never, {} as never)],
    ['body rejects', () => ({ contentType: 'application/json', body: rejects() })],
  ]
  for (const [name, body] of bodies) {
    const { run, lines } = await serve(t, { errorBody: body as never })
    t.same(await run([post('/none')], 1), [404], name)
    t.same(await run([garbage], 1), [400], name)
    t.same(await run(['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'], 1), [405], name)
    t.ok(
      lines.some((line) => line.includes('not a promise')),
      name,
    )
  }
})

t.test('a verifier that fails in any way rejects its request, and no operation runs twice', async (t) => {
  type Done = Parameters<Verifier>[1]
  const failing: [string, unknown][] = [
    ['throws', boom],
    ['rejects', rejects],
    ['rejects with nothing', rejectsWithNothing],
    ['reports an error later', (_request: unknown, done: Done) => setTimeout(done, 5, new Error('no'))],
    ['reports an error twice', (_request: unknown, done: Done) => [1, 2].map(() => done(new Error('no')))],
    [
      'reports an error, then passes',
      (_request: unknown, done: Done) => [new Error('no'), undefined].map((e) => done(e)),
    ],
  ]
  for (const [name, a] of failing) {
    const { run, calls } = await serve(t, { verifiers: { a, b: boom } })
    t.same(await run([post('/a')], 1), [500], name)
    t.same(await run([post('/either')], 1), [500], `${name}, then another throws`)
    t.equal(calls(), 0, name)
  }
  const passing: [string, unknown][] = [
    ['twice', (_request: unknown, done: Done) => [1, 2].map(() => done())],
    ['again later', (_request: unknown, done: Done) => [0, 10].map((time) => setTimeout(done, time))],
    ['and fails later', (_request: unknown, done: Done) => [done(), setTimeout(done, 5, new Error('late'))]],
    [
      'and rejects',
      async (_request: unknown, done: Done) => {
        done()
        boom()
      },
    ],
  ]
  for (const [name, a] of passing) {
    const { run, calls } = await serve(t, { verifiers: { a } })
    t.same(await run([post('/a')], 1), [200], name)
    t.equal(calls(), 1, name)
  }
})

t.test('a look-up of credentials that rejects or throws without a reason does not authenticate', async (t) => {
  const verifyNothing = (): never => {
    throw undefined
  }
  for (const verify of [rejectsWithNothing, verifyNothing]) {
    const verifiers = async (context: VerifierContext) => ({
      a: await bearer(verify)(context),
      b: await apiKey({ in: 'header', name: 'X-Key' }, verify)(context),
    })
    const { app, calls } = await serve(t, { verifiers })
    const headers = { authorization: 'Bearer abc', 'x-key': 'abc' }
    for (const url of ['/a', '/either']) t.equal((await app.inject({ method: 'POST', url, headers })).statusCode, 500)
    t.equal(calls(), 0)
  }
})

t.test('a handler that fails in any way gets 500 or 503, and does not count as running', async (t) => {
  const late = (reply: () => unknown) => () => sleep(150).then(reply)
  const emitter = (emit: (stream: Readable) => void) => async () => {
    const stream = new Readable({ read() {} })
    setTimeout(emit, 10, stream)
    return { status: 200, body: stream }
  }
  const failing: [string, unknown, number][] = [
    ['throws', boom, 500],
    ['returns no promise', () => ({ status: 200, body: {} }), 500],
    ['returns nothing', () => undefined, 500],
    ['throws nothing', rejectsWithNothing, 500],
    ['body throws', async () => ({ status: 200, body: new Proxy({}, { get: boom, has: boom }) }), 500],
    [
      'response throws',
      async () => ({
        status: 200,
        get body() {
          return boom()
        },
      }),
      500,
    ],
    [
      'stream of a JSON operation fails twice',
      emitter((stream) => [1, 2].map(() => stream.emit('error', new Error('late')))),
      500,
    ],
    ['throws after its timeout', late(boom), 503],
    ['fails as a stream after its timeout', late(emitter((stream) => stream.emit('error', new Error('late')))), 503],
  ]
  for (const [name, open, status] of failing) {
    const { run } = await serve(t, {
      handlers: { open, bytes: open } as never,
      limits: { handlerTime: 60, inFlight: 1 },
    })
    const path = name.startsWith('fails as a stream') ? '/bytes' : '/open'
    const [head, rest] = [post(path).slice(0, -3), post(path).slice(-3)]
    t.same(await run([head, rest], 1), [status], name)
    await sleep(150)
    t.same(await run([post('/a')], 1), [200], `${name}: the next request`)
  }
})
