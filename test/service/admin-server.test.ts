import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestOptions, Server, ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeCommand } from 'fastify-contract-test-support/child-process'
import { httpRequest as askUrl, type HttpResponse } from 'fastify-contract-test-support/http-request'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until, within } from 'fastify-contract-test-support/poll'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import {
  type AdminOptions,
  connectionLimit,
  createAdminServer,
} from '../../packages/fastify-contract/src/service/admin-server.ts'
import { pageOrigins } from '../../packages/fastify-contract/src/service/loopback.ts'
import { contract } from '../support/contract.ts'
import { copiedCode } from '../support/service-code.ts'
import { startService } from '../support/service-process.ts'

const { documentText } = contract
const { title, version } = contract.routes.info
const docsPage = `<meta content="frame-src 'none'"><p>plants<!-- try.html -->`
/** The documentation page with what the admin server adds for a service at a URL, if it has one. */
const linkedPageOf = (url?: string) =>
  `<meta content="frame-src 'self'"><p>plants<a href="try.html"${url === undefined ? '' : ` data-service="${url}"`}>Try an operation</a>`
const historyPage = '<p>versions'
const tryPage = '<meta content="connect-src SERVICE_URL"><main data-service="SERVICE_URL">SERVICE_URL'
const tryPageOf = (url: string) => `<meta content="connect-src ${url}"><main data-service="${url}">SERVICE_URL`
/** An admin server that listens, in this process or in the bundle's. */
type Management = {
  port: number
  /** The URL of the service. */
  url: string
  ask(path: string, options?: RequestOptions): Promise<HttpResponse>
  /** Makes the service unready with a reason, or ready. */
  setReason(reason: string | undefined): void
  /** Returns whether the service was ready at the last check, according to its metric. */
  lastReady(): Promise<boolean | undefined>
  /** The path of the docs page. */
  docs: string
  /** A pattern for the body of /metrics. */
  metrics: RegExp
}

/** Writes the module of a store whose readiness the test controls through a file. */
function storeModule(t: Test) {
  const directory = t.testdir({
    'store.mjs': `
      import { anyStore } from '${import.meta.resolve('../support/any-store.js')}'
      import { existsSync, readFileSync } from 'node:fs'
      const reason = new URL('reason', import.meta.url)
      const ready = async () => {
        if (existsSync(reason)) throw new Error(readFileSync(reason, 'utf8'))
      }
      export const open = async () => anyStore({ ready })`,
  })
  const path = join(directory, 'reason')
  return {
    url: `module:${join(directory, 'store.mjs')}`,
    /** Makes the store unready with a reason, or ready. */
    setReason(reason: string | undefined) {
      if (reason === undefined) rmSync(path)
      else writeFileSync(path, reason)
    },
  }
}

async function startHere(t: Test, options: Partial<AdminOptions> = {}): Promise<Management & { server: Server }> {
  const docs = join(t.testdir({}), 'index.html')
  writePages(docs)
  const url = 'http://127.0.0.1:3000'
  let reason: string | undefined
  let told: boolean | undefined
  const server = createAdminServer({
    apis: [{ prefix: '', added: '', contract, docs }],
    metrics: async () => 'up 1\n',
    unreadyReason: () => reason,
    onReady(good) {
      told = good
    },
    serviceUrl: () => url,
    ...options,
  })
  t.teardown(() => stop(server))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const ask = askAt(`http://127.0.0.1:${port}`)
  const setReason = (given: string | undefined) => {
    reason = given
  }
  return { server, port, url, ask, setReason, lastReady: async () => told, docs, metrics: /^up 1\n$/ }
}

/** Sends a path unchanged; a URL object would normalize it. */
const askAt = (url: string) => (path: string, options?: RequestOptions) => askUrl(url, { path, ...options })

function stop(server: Server): void {
  server.close()
  server.closeAllConnections()
}

function writePages(docs: string): void {
  writeFileSync(docs, docsPage)
  writeFileSync(join(dirname(docs), 'history.html'), historyPage)
  writeFileSync(join(dirname(docs), 'try.html'), tryPage)
}

const contentTypes = {
  '/': 'text/plain; charset=utf-8',
  '/livez': 'text/plain; charset=utf-8',
  '/readyz': 'text/plain; charset=utf-8',
  '/metrics': new Registry().contentType,
  '/docs': 'text/html; charset=utf-8',
  '/history.html': 'text/html; charset=utf-8',
  '/try.html': 'text/html; charset=utf-8',
  '/openapi.json': 'application/json',
}

/** Tests that hold for the admin server in either process. */
function suite(t: Test, start: (t: Test) => Promise<Management>): void {
  t.test('every page answers GET and HEAD only', async (t) => {
    const { ask, metrics, url } = await start(t)
    const list = (await ask('/')).body
    t.ok(list.startsWith(`${title} ${version}\n`))
    for (const [path, contentType] of Object.entries(contentTypes)) {
      const answer = await ask(`${path}?seen=1`)
      t.equal(answer.status, 200, path)
      const { date: _, 'content-length': length, ...headers } = answer.headers
      t.hasStrict(headers, { 'content-type': contentType, 'cache-control': 'no-store' }, path)
      t.hasStrict(headers, { 'x-content-type-options': 'nosniff', connection: 'close' })
      t.equal(Number(length), Buffer.byteLength(answer.body))
      const head = await ask(path, { method: 'HEAD' })
      t.same([head.status, head.body], [200, ''])
      t.hasStrict(head.headers, headers)
      // Metrics change from one response to the next.
      if (path !== '/metrics') t.equal(head.headers['content-length'], length)
      t.hasStrict(await ask(path, { method: 'POST' }), { status: 405, headers: { allow: 'GET, HEAD' } })
      if (path !== '/') t.ok(list.includes(`\n${path} `), `${path} is listed`)
    }
    for (const path of ['/livez/', '/plants', '//docs', '/docs/../livez']) t.equal((await ask(path)).status, 404, path)
    t.equal((await ask('/openapi.json')).body, documentText)
    for (const path of ['/docs', '/index.html']) t.equal((await ask(path)).body, linkedPageOf(url), path)
    t.equal((await ask('/history.html')).body, historyPage)
    t.equal((await ask('/try.html')).body, tryPageOf(url))
    t.match((await ask('/metrics')).body, metrics)
  })

  t.test('readiness follows the store and sets the metric, liveness does not', async (t) => {
    const { ask, setReason, lastReady } = await start(t)
    setReason('the disk is full')
    await until(async () => (await ask('/readyz')).status === 503, 'it is not ready')
    t.hasStrict(await ask('/readyz'), { status: 503, body: 'the disk is full\n' })
    t.hasStrict(await ask('/livez'), { status: 200, body: 'alive\n' })
    t.equal(await lastReady(), false)
    setReason(undefined)
    await until(async () => (await ask('/readyz')).status === 200, 'it is ready')
    t.equal((await ask('/readyz')).body, 'ready\n')
    t.equal(await lastReady(), true)
  })

  t.test('a page that was not built gets 404 with the command that builds it', async (t) => {
    const { ask, docs } = await start(t)
    rmSync(docs)
    rmSync(join(dirname(docs), 'try.html'))
    const [docsAnswer, tryAnswer] = [await ask('/docs'), await ask('/try.html')]
    writePages(docs)
    t.match(docsAnswer, { status: 404, body: /^[^\n]*fastify-contract docs[^\n]*\n$/ })
    t.match(tryAnswer, { status: 404, body: /^[^\n]*fastify-contract dev[^\n]*\n$/ })
  })

  t.test('the docs page forbids framing, and only it may frame the forms', async (t) => {
    const { ask } = await start(t)
    const policyOf = async (path: string) => (await ask(path)).headers['content-security-policy']
    for (const path of ['/docs', '/history.html']) t.equal(await policyOf(path), "frame-ancestors 'none'", path)
    t.equal(await policyOf('/try.html'), "frame-ancestors 'self'")
  })

  t.test('on a loopback address a host must be an IP address or localhost', async (t) => {
    const { ask } = await start(t)
    const own = ['127.0.0.1', '127.0.0.1:3001', '[::1]:3001', '10.1.2.3:3001', 'localhost', 'LOCALHOST:1']
    for (const host of [...own, 'localhost:']) t.equal((await ask('/livez', { headers: { host } })).status, 200, host)
    for (const host of [
      'plants.example',
      'plants.example:3001',
      '127.0.0.1.example',
      'localhost.example',
      'notlocalhost',
      'a.localhost',
      'localhost.',
      '[localhost]',
      '[127.0.0.1]',
      '::1',
      '[::1',
      '[::1]3001',
      'localhost:3001:1',
      'localhost:x',
      'localhost, plants.example',
    ])
      t.match(await ask('/livez', { headers: { host } }), { status: 421, body: /^[^\n]*address[^\n]*\n$/ }, host)
  })

  t.test('a repeated Host is rejected, in either order', async (t) => {
    const { port } = await start(t)
    for (const hosts of [
      ['localhost', 'plants.example'],
      ['plants.example', 'localhost'],
      ['localhost', 'localhost'],
    ]) {
      const lines = hosts.map((host, index) => `${index === 0 ? 'Host' : 'hOST'}: ${host}\r\n`).join('')
      const client = await openSocket(t, port, `GET /livez HTTP/1.1\r\n${lines}\r\n`)
      t.match(await client.closed(), /^HTTP\/1\.1 400 Bad Request\r\n/, hosts.join())
    }
  })

  t.test('an HTTP/1.0 client may omit Host', async (t) => {
    const { port } = await start(t)
    const client = await openSocket(t, port, 'GET /livez HTTP/1.0\r\n\r\n')
    t.match(await client.closed(), /^HTTP\/1\.1 200 OK\r\n([^\r\n]+\r\n)+\r\nalive\n$/)
  })

  t.test('connections without a complete request do not delay probes', async (t) => {
    const { port, ask } = await start(t)
    for (const [name, bytes] of Object.entries({ idle: '', 'half-sent': 'GET /livez HTTP/1.1\r\nHost: ' }))
      for (const count of [connectionLimit, 1_000]) {
        const clients = await Promise.all(Array.from({ length: count }, () => openSocket(t, port, bytes)))
        const sent = performance.now()
        t.equal((await ask('/livez')).status, 200, `${count} connections, ${name}`)
        // If the server had no room for the probe, it would wait for 5 seconds, the headers timeout.
        t.ok(performance.now() - sent < 4_000)
        const open = () => clients.filter(({ isClosed }) => !isClosed()).length
        await until(
          () => open() <= connectionLimit,
          () => `${open()} connections are open`,
        )
        for (const { socket } of clients) socket.destroy()
      }
  })
}

t.test('the admin server runs in this process', async (t) => suite(t, startHere))

t.test('the admin server runs as the built bundle', async (t) => {
  const { command, docs } = copiedCode(t)
  mkdirSync(dirname(docs))
  writePages(docs)
  const { url: storeUrl, setReason } = storeModule(t)
  const { url, managementUrl, page, stop, banner } = await startService(t, { STORE_URL: storeUrl }, { command })
  const port = Number(new URL(managementUrl).port)
  const lastReady = async () => {
    const [, value] = /^plant_store_ready ([01])$/m.exec((await page('/metrics')).body) ?? []
    return value === undefined ? undefined : value === '1'
  }
  const metrics = /^# HELP [^\n]+\n[\s\S]*\nplant_store_build_info\{[^}\n]+\} 1\n/
  suite(t, async () => ({ port, url, ask: askAt(managementUrl), setReason, lastReady, docs, metrics }))

  t.test("a silent connection does not delay the process' exit", async (t) => {
    const silent = await openSocket(t, port)
    t.equal((await page('/livez')).status, 200)
    // If the service did not close it, the process would wait for 5 seconds, the headers timeout.
    const sent = performance.now()
    t.hasStrict(await stop(), { code: 0, signal: null, stderr: banner })
    t.ok(performance.now() - sent < 4_000)
    t.equal(await silent.closed(), '')
  })
})

// The tests below run only in this process: they need readiness checks that they count, metrics that fail, a
// server that emits an error, or a socket file.

t.test('readiness probes and scrapes check the readiness, liveness does not', async (t) => {
  let checks = 0
  const unreadyReason = () => {
    checks++
    return undefined
  }
  const { ask } = await startHere(t, { unreadyReason })
  await ask('/livez')
  t.equal(checks, 0)
  await ask('/readyz')
  await ask('/metrics')
  t.equal(checks, 2)
})

t.test('a failing metric fails one response only', async (t) => {
  const { ask, server } = await startHere(t, { metrics: () => Promise.reject(new Error('no figures')) })
  t.hasStrict(await ask('/metrics'), { status: 500, body: 'no figures\n' })
  server.emit('error', new Error('accept EMFILE'))
  t.equal((await ask('/livez')).status, 200)
})

t.test('responses that do not end do not delay probes', async (t) => {
  const { port, ask } = await startHere(t, { metrics: () => new Promise(() => {}) })
  const request = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const stuck = await Promise.all(Array.from({ length: 2 * connectionLimit }, () => openSocket(t, port, request)))
  t.equal((await ask('/livez')).status, 200)
  const open = () => stuck.filter(({ isClosed }) => !isClosed()).length
  await until(
    () => open() < connectionLimit,
    () => `${open()} connections are open`,
  )
})

t.test('of more than 16 clients that still send after their response, the first is cut off', async (t) => {
  const { port } = await startHere(t)
  const send = async () => {
    // Such a client does not close its side when the server does.
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    socket.write('POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n')
    await within(once(socket.resume(), 'end'), 'the end of the response')
    return socket
  }
  const [first, second] = [await send(), await send()]
  for (let count = 2; count < 16; count++) await send()
  t.notOk(first.closed)
  await send()
  // A write to a connection that the server has closed ends it.
  await until(() => first.closed || !first.write('a'), 'the close')
  t.notOk(second.closed)
})

t.test('requests share the bytes of a page and the text of a scrape, until the file changes', async (t) => {
  let scrapes = 0
  const metrics = async () => {
    scrapes++
    await sleep(100)
    return 'up 1\n'
  }
  const { server, ask, docs, url } = await startHere(t, { metrics })
  const pageBytes = 2_000_000
  writeFileSync(docs, docsPage.padEnd(pageBytes, ' '))
  const bodies = new Set<unknown>()
  server.on('request', (_request, response: ServerResponse) => {
    const end = response.end.bind(response) as (body: unknown) => ServerResponse
    response.end = ((body: unknown) => {
      bodies.add(body)
      return end(body)
    }) as typeof response.end
  })
  for (const path of ['/docs', '/history.html', '/try.html', '/openapi.json']) {
    bodies.clear()
    await Promise.all([path, path].map((one) => ask(one)))
    await ask(path)
    await ask(path, { method: 'HEAD' })
    t.equal(bodies.size, 1, path)
    t.ok([...bodies][0] instanceof Buffer)
  }
  await Promise.all(Array.from({ length: 8 }, () => ask('/metrics')))
  t.equal(scrapes, 1)
  writeFileSync(docs, `${docsPage}new`)
  t.equal((await ask('/docs')).body, `${linkedPageOf(url)}new`)
})

t.test('nothing is sent on a connection that has closed meanwhile', async (t) => {
  let respond: ((text: string) => void) | undefined
  const metrics = () =>
    new Promise<string>((resolve) => {
      respond = resolve
    })
  const { server, port } = await startHere(t, { metrics })
  let ended = 0
  let closed = false
  server.on('request', (_request, response: ServerResponse) => {
    response.writeHead = () => {
      ended++
      return response
    }
    response.on('close', () => {
      closed = true
    })
  })
  const { socket } = await openSocket(t, port, 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await until(() => respond !== undefined, 'the metrics are requested')
  socket.destroy()
  await until(() => closed, 'the server sees the close')
  respond?.('up 1\n')
  await sleep(10)
  t.equal(ended, 0)
})

t.test('a listen error reaches the caller', async (t) => {
  const { port } = await startHere(t)
  const second = createAdminServer({ apis: [{ prefix: '', added: '', contract, docs: 'index.html' }] } as AdminOptions)
  second.listen(port, '127.0.0.1')
  await t.rejects(once(second, 'listening'), { code: /^EADDRINUSE$/ })
})

t.test('the forms call a URL of the service that a browser can reach', async (t) => {
  for (const [serviceUrl, expected] of [
    ['http://192.0.2.1:3000', 'http://192.0.2.1:3000'],
    ['http://0.0.0.0:3000', 'http://127.0.0.1:3000'],
    ['http://[::]:3000', 'http://localhost:3000'],
    ['http://[::1]:3000', 'http://localhost:3000'],
  ] as const) {
    const { ask } = await startHere(t, { serviceUrl: () => serviceUrl })
    t.equal((await ask('/try.html')).body, tryPageOf(expected))
    t.equal((await ask('/docs')).body, linkedPageOf(expected))
  }
  const early = await startHere(t, { serviceUrl: () => undefined })
  t.match(await early.ask('/try.html'), { status: 503, body: /^the service is not listening yet/ })
  t.equal((await early.ask('/docs')).body, linkedPageOf())
})

t.test('the service allows the origins of the pages on a loopback address', async (t) => {
  t.same(pageOrigins('http://127.0.0.1:3001'), ['http://127.0.0.1:3001', 'http://localhost:3001'])
  t.same(pageOrigins('http://[::1]:80'), ['http://[::1]', 'http://localhost'])
  for (const url of ['http://0.0.0.0:3001', 'http://[::]:3001', 'http://192.0.2.1:3001']) t.same(pageOrigins(url), [])
})

t.test('on other addresses any host name is accepted and there are no forms', async (t) => {
  const { server } = await startHere(t)
  stop(server)
  // A socket path below t.testdir could exceed 107 bytes; the kernel would truncate it without an error.
  const directory = mkdtempSync(join(tmpdir(), 'plants-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const socketPath = join(directory, 'socket')
  await once(server.listen(socketPath), 'listening')
  const ask = (path: string) => askUrl(`http://plants.example${path}`, { socketPath })
  t.equal((await ask('/livez')).status, 200)
  t.match(await ask('/try.html'), { status: 404, body: /^[^\n]*MANAGEMENT_HOST[^\n]*\n$/ })
  t.equal((await ask('/docs')).body, docsPage, 'the page has no link to /try.html')
})

t.test('closeAllConnections closes every connection', async (t) => {
  const { server, port, ask } = await startHere(t)
  const silent = await openSocket(t, port)
  t.equal((await ask('/livez')).status, 200)
  const closed = once(server, 'close')
  stop(server)
  await Promise.all([within(closed, 'the close of the server'), silent.closed()])
  t.equal(server.listening, false)
})

t.test('a slow scrape is served although idle connections exceed the limit', async (t) => {
  let respond: ((text: string) => void) | undefined
  const metrics = () =>
    new Promise<string>((resolve) => {
      respond = resolve
    })
  const { port, ask } = await startHere(t, { metrics })
  const scrape = ask('/metrics')
  await until(() => respond !== undefined, 'the metrics are requested')
  const idle = await Promise.all(Array.from({ length: 2 * connectionLimit }, () => openSocket(t, port)))
  respond?.('up 1\n')
  t.equal((await scrape).status, 200)
  for (const { socket } of idle) socket.destroy()
})

t.test('a running service gives its URL to the page of forms', async (t) => {
  const directory = t.testdir({
    'try.html': tryPage,
    'server.mjs': `import { createServer } from 'fastify-contract'
      import { runService } from 'fastify-contract/service'
      await runService({
        name: 'plant-store',
        variables: {},
        tokenPrefix: '',
        tokenCommand: 'none',
        docs: new URL('index.html', import.meta.url).pathname,
        contract: {
          documentText: '{}',
          routes: { info: { title: 'Test', version: '1.0.0' }, operations: [], errorNumbers: {}, schemas: {} },
        },
        open: async () => ({
          description: 'store none',
          health: { known: Promise.resolve(), reason() {} },
          createServer: (contract, _verify, options) => createServer({ ...options, contract, handlers: {}, verifiers: {} }),
          exampleRequest: () => '',
          async close() {},
        }),
      })`,
  })
  const { url, page, stop } = await startService(t, {}, { command: nodeCommand(join(directory, 'server.mjs')) })
  t.match(await page('/try.html'), { status: 200, body: tryPageOf(url) })
  await stop()
})
