import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSocket, untilRefused } from 'fastify-contract-test-support/open-socket'
import { until, within } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { crossOriginNames } from '../../packages/fastify-contract/src/routes/register-routes.ts'
import type { AppOptions } from '../../src/app.ts'
import { contract } from '../support/contract.ts'
import { request } from '../support/raw-http.ts'
import { startService } from '../support/service-process.ts'
import { createTestApp } from '../support/test-app.ts'

/** A time in milliseconds that is longer than any test. */
const long = 600_000

/** Starts a service. `open` waits until a connection is accepted; `close`, until new connections are refused. */
async function start(t: Test, options: Partial<AppOptions> = {}) {
  const { app, listen } = await createTestApp(t, options)
  const port = await listen()
  let accepted = 0
  app.server.on('connection', () => accepted++)
  const open = async (bytes?: Buffer) => {
    const before = accepted
    const opened = await openSocket(t, port, bytes)
    await until(() => accepted > before, 'the connection is accepted')
    return opened
  }
  const close = async () => {
    const closed = app.close()
    await untilRefused(port)
    return { closed: () => within(closed, 'the close of the app') }
  }
  return { app, port, open, close }
}

const served = /^HTTP\/1\.1 200 .*\r\nconnection: close\r\n.*\}$/is

t.test('requests on connections that were idle when the listener closed are served', async (t) => {
  const { open, close } = await start(t, { keepAliveGrace: long })
  const silent = await open()
  const answered = await open(request())
  const first = await answered.receives(/\}$/)
  t.match(first, /\r\nconnection: keep-alive\r\n/i)
  const { closed } = await close()
  silent.socket.write(request())
  t.match(await silent.closed(), served, 'on a connection without a byte so far')
  answered.socket.write(request())
  t.match((await answered.closed()).slice(first.length), served, 'on a connection after an answer')
  await closed()
})

t.test('connections that stay idle are closed after the grace period', async (t) => {
  const { open, close } = await start(t, { keepAliveGrace: 50 })
  const silent = await open()
  const answered = await open(request())
  const first = await answered.receives(/\}$/)
  const { closed } = await close()
  await closed()
  t.equal(await silent.closed(), '')
  t.equal(await answered.closed(), first)
})

t.test('a request that has begun when the listener closes is served, whenever it ends', async (t) => {
  const { open, close } = await start(t)
  const silent = await open()
  const [begun, body] = [await open(request().subarray(0, 30)), await open(request().subarray(0, -3))]
  const { closed } = await close()
  await silent.closed()
  begun.socket.write(request().subarray(30))
  t.match(await begun.closed(), served)
  body.socket.write(request().subarray(-3))
  t.match(await body.closed(), served)
  await closed()
})

t.test('the request timeout still applies after the listener closed', async (t) => {
  const { open, close } = await start(t, { limits: { headersTime: 1_000 } })
  const begun = await open(request().subarray(0, 30))
  const { closed } = await close()
  t.match(await begun.closed(), /^HTTP\/1\.1 408 /)
  await closed()
})

t.test('connections that wait to be accepted when the close begins are served', async (t) => {
  const { app, port } = await start(t)
  const connections = 20
  const flag = `${t.testdir()}/connected`
  const clients = spawn(process.execPath, ['-e', clientsOf(port, connections, flag)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { REQUEST: request().toString('latin1') },
  })
  t.teardown(() => clients.kill('SIGKILL'))
  let answers = ''
  clients.stdout.setEncoding('latin1').on('data', (text: string) => {
    answers += text
  })
  await once(clients, 'spawn')
  // This loop blocks the event loop: the kernel completes the connections, but the service does not accept them.
  const limit = performance.now() + 30_000
  while (!existsSync(flag) && performance.now() < limit);
  const closed = app.close()
  await within(once(clients, 'close'), 'the end of the clients')
  t.same(answers.split('\n').filter(Boolean), Array(connections).fill('HTTP/1.1 200 OK'))
  await within(closed, 'the close of the app')
})

/** Returns a program that sends one request per connection, then creates `flag`, then prints the status lines. */
const clientsOf = (port: number, connections: number, flag: string) => `
  const { connect } = require('node:net')
  let connected = 0
  for (let i = 0; i < ${connections}; i++) {
    let answer = ''
    const socket = connect(${port}, '127.0.0.1', () => {
      socket.write(Buffer.from(process.env.REQUEST, 'latin1'), () => {
        if (++connected === ${connections}) require('node:fs').writeFileSync('${flag}', '')
      })
    })
    socket.on('data', (chunk) => { answer += chunk })
    socket.on('error', (error) => { answer = error.code })
    socket.on('close', () => console.log(answer.split('\\r\\n')[0]))
  }`

const origin = 'https://app.example'
const other = 'https://other.example'

/** The text of a store module: the name of a plant selects the failure. */
const store = `import { anyStore } from '${import.meta.resolve('../support/any-store.js')}'
export const open = async () => anyStore({
  async create({ id, name }) {
    if (name === 'unavailable') throw Object.assign(new Error('away'), { retryAfter: 1 })
    if (name === 'broken') throw new Error('broken')
    return id === 2n ? 'conflict' : 'created'
  },
})`

const { methods, requestHeaders, responseHeaders } = crossOriginNames(contract.routes)

t.test('a page may read the headers of every error', (t) => {
  const ofErrors = ['Accept', 'Allow', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id']
  t.same(
    ofErrors.filter((name) => !responseHeaders.includes(name)),
    [],
  )
  t.end()
})

type Start = (t: Test, origins: string[]) => Promise<number>

/** Both services respond 429 to the third request without a valid token from one address. */
const inThisProcess: Start = async (t, origins) => {
  const { open } = await import(join(t.testdir({ 'store.js': store, 'package.json': '{"type":"module"}' }), 'store.js'))
  const limits = { headers: 2_048, headersTime: 300, requestTime: 600, authFailures: 2 }
  return await (await createTestApp(t, { store: await open(), limits, origins })).listen()
}

const asBundle: Start = async (t, origins) => {
  const path = join(t.testdir({ 'package.json': '{"type":"module"}' }), 'store.js')
  writeFileSync(path, store)
  const limits = {
    HEADERS_LIMIT: '2048',
    HEADERS_TIMEOUT: '300',
    REQUEST_TIMEOUT: '600',
    AUTH_FAILURES_PER_MINUTE: '2',
  }
  const environment = { ...limits, STORE_URL: `module:${path}`, CORS_ORIGINS: origins.join() }
  return (await startService(t, environment)).port
}

type Reply = { status: number; headers: Record<string, string>; body: string }

async function answerOf(t: Test, port: number, bytes: Buffer | string): Promise<Reply> {
  const text = await (await openSocket(t, port, bytes)).closed()
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [line = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.replace(/^.*?: /, '')])
  return { status: Number(line.split(' ')[1]), headers: Object.fromEntries(headers), body }
}

type Parts = Parameters<typeof request>[0] & object

const from = (name: string, { headers = [], ...parts }: Parts = {}) =>
  request({ ...parts, headers: ['Connection: close', `Origin: ${name}`, ...headers] })

const badToken = { headers: ['Authorization: Bearer wrong'] }
const plant = (id: number, name: string) => ({ body: JSON.stringify({ id, name }) })

/** Responses to requests from an allowed origin. */
const answers: [string, number, Parts][] = [
  ['a plant', 200, {}],
  ['a conflict', 409, plant(2, 'a')],
  ['a body that is not JSON', 400, { body: '{' }],
  ['a body that breaks its schema', 400, { body: '{}' }],
  ['a target that cannot be decoded', 400, { line: 'POST /%zz HTTP/1.1' }],
  ['a chunk that is malformed', 400, { headers: ['Transfer-Encoding: chunked'], body: 'zz\r\n' }],
  ['two hosts', 400, { headers: ['Host: a', 'Host: b'] }],
  ['no token', 401, { without: ['authorization'] }],
  ['a token that is not valid', 401, badToken],
  ['too many of these', 429, badToken],
  ['no such path', 404, { line: 'POST /nothing HTTP/1.1' }],
  ['no such method', 405, { line: 'DELETE /plants HTTP/1.1' }],
  ['no preflight', 405, { line: 'OPTIONS /plants HTTP/1.1', without: ['content-length'], body: '' }],
  ['a body that is late', 408, { headers: ['Content-Length: 100'] }],
  ['a body that is too large', 413, { headers: ['Content-Length: 262145'] }],
  ['another media type', 415, { headers: ['Content-Type: text/plain'] }],
  ['another expectation', 417, { headers: ['Expect: something'] }],
  ['large headers', 431, { headers: Array(400).fill('a: b') }],
  ['a store that fails', 500, plant(1, 'broken')],
  ['a store that is away', 503, plant(1, 'unavailable')],
]

const preflightOf = (name: string, ...headers: string[]) =>
  from(name, {
    line: 'OPTIONS /plants HTTP/1.1',
    without: ['authorization', 'content-type', 'content-length'],
    headers: ['Access-Control-Request-Method: POST', ...headers],
    body: '',
  })

for (const [name, start] of Object.entries({ 'in this process': inThisProcess, 'as the built bundle': asBundle }))
  t.test(name, async (t) => {
    const port = await start(t, [origin, 'http://localhost:8080'])

    t.test('a page of an allowed origin may read every response', async (t) => {
      for (const [what, status, parts] of answers) {
        const reply = await answerOf(t, port, from(origin, parts))
        t.equal(reply.status, status, what)
        t.equal(reply.headers['access-control-allow-origin'], origin, what)
        t.equal(reply.headers.vary, 'Origin', what)
        t.equal(reply.headers['access-control-expose-headers'], responseHeaders.join(', '), what)
        t.notOk('access-control-allow-credentials' in reply.headers, 'the service allows no credentials')
      }
    })

    t.test('the response to malformed bytes allows no origin', async (t) => {
      const late = `POST /plants HTTP/1.1\r\nOrigin: ${origin}\r\n`
      for (const [bytes, status] of [
        [late, 408],
        [`${late}broken\r\n\r\n`, 400],
        [`${late}X: ${'x'.repeat(3_000)}\r\n\r\n`, 431],
      ] as const) {
        const reply = await answerOf(t, port, bytes)
        t.equal(reply.status, status)
        t.notOk('access-control-allow-origin' in reply.headers)
      }
    })

    t.test('a preflight request is answered without a token, and has no body', async (t) => {
      const reply = await answerOf(t, port, preflightOf(origin, 'Access-Control-Request-Headers: authorization'))
      t.equal(reply.body, '')
      t.hasStrict(reply, {
        status: 204,
        headers: {
          vary: 'Origin',
          'access-control-allow-origin': origin,
          'access-control-allow-methods': methods.join(', '),
          'access-control-allow-headers': requestHeaders.join(', '),
          'access-control-max-age': '7200',
        },
      })
      t.match(reply.headers['x-request-id'], /./)
      t.notOk('content-length' in reply.headers)
      t.equal((await answerOf(t, port, preflightOf(origin, 'Content-Length: 0'))).status, 204, 'a proxy may add it')
      t.equal(
        (await answerOf(t, port, preflightOf('http://localhost:8080'))).status,
        204,
        'each allowed origin gets 204',
      )
      for (const framing of ['Content-Length: 2', 'Transfer-Encoding: chunked'])
        t.equal((await answerOf(t, port, preflightOf(origin, framing))).status, 405, 'a preflight has no body')
      t.equal((await answerOf(t, port, preflightOf(origin, 'Host: a', 'Host: b'))).status, 400, 'two Host headers')
    })

    t.test('a page of another origin may not read responses', async (t) => {
      for (const name of [other, 'null', '*', origin.toUpperCase(), `${origin}:443`, `${origin}, ${origin}`]) {
        const reply = await answerOf(t, port, from(name))
        t.equal(reply.status, 200, 'the service serves the request; the browser hides the response')
        t.equal(reply.headers.vary, 'Origin')
        t.notOk('access-control-allow-origin' in reply.headers, name)
        const preflight = await answerOf(t, port, preflightOf(name))
        t.equal(preflight.status, 405)
        t.notOk('access-control-allow-origin' in preflight.headers, name)
      }
      const { headers } = await answerOf(t, port, request({ headers: ['Connection: close'] }))
      t.equal(headers.vary, 'Origin', 'a cache must not reuse this response for a page')
      t.notOk('access-control-allow-origin' in headers)
    })
  })

t.test('without CORS_ORIGINS no response has a CORS header', async (t) => {
  const port = await inThisProcess(t, [])
  for (const [bytes, status] of [
    [from(origin), 200],
    [preflightOf(origin), 405],
  ] as const) {
    const reply = await answerOf(t, port, bytes)
    t.equal(reply.status, status)
    t.same(
      Object.keys(reply.headers).filter((name) => /^(vary|access-control-)/.test(name)),
      [],
    )
  }
})

t.test("the service's own pages are allowed once they are served, without Vary for other responses", async (t) => {
  const own: string[] = []
  const port = await (await createTestApp(t, { ownOrigins: () => own })).listen()
  const allowed = async (name: string) => {
    const { headers } = await answerOf(t, port, from(name))
    t.notOk('vary' in headers)
    return [headers['access-control-allow-origin'], (await answerOf(t, port, preflightOf(name))).status]
  }
  t.same(await allowed(origin), [undefined, 405])
  own.push(origin)
  t.same(await allowed(origin), [origin, 204])
  t.same(await allowed(other), [undefined, 405])
})
