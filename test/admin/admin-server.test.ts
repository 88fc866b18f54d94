import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingHttpHeaders, type RequestOptions, request, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { createManagement } from '../../src/admin/admin-server.ts'
import type { ManagementOptions } from '../../src/admin/pages.ts'
import { contract } from '../support/contract.ts'

const { documentText } = contract

type Answer = { status: number | undefined; headers: IncomingHttpHeaders; body: string }

/** Asks on a connection of its own. */
async function ask(options: RequestOptions): Promise<Answer> {
  const asked = request({ agent: false, ...options }).end()
  const [answer] = await once(asked, 'response')
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

async function start(t: Test, options: Partial<ManagementOptions> = {}) {
  const given = {
    contract,
    docs: join(t.testdir({ 'index.html': '<p>plants' }), 'index.html'),
    metrics: async () => 'up 1\n',
    ready: async () => {},
    onReady() {},
  }
  const server = createManagement({ ...given, ...options })
  t.teardown(() => stop(server))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { server, port, ask: (path: string, options: RequestOptions = {}) => ask({ port, path, ...options }) }
}

function stop(server: Server): void {
  server.close()
  server.closeAllConnections()
}

const contentTypes = {
  '/': 'text/plain; charset=utf-8',
  '/livez': 'text/plain; charset=utf-8',
  '/readyz': 'text/plain; charset=utf-8',
  '/metrics': new Registry().contentType,
  '/docs': 'text/html; charset=utf-8',
  '/openapi.json': 'application/json',
}

t.test('each page is there for GET and HEAD, and nothing else', async (t) => {
  const { ask } = await start(t)
  const list = (await ask('/')).body
  t.ok(list.startsWith(`${contract.routes.info.title} ${contract.routes.info.version}\n`))
  for (const [path, contentType] of Object.entries(contentTypes)) {
    const answer = await ask(`${path}?seen=1`)
    t.match(answer, { status: 200, headers: { 'content-type': contentType, 'cache-control': 'no-store' } }, path)
    t.match(answer.headers, { 'x-content-type-options': 'nosniff', connection: 'close' })
    t.equal(Number(answer.headers['content-length']), Buffer.byteLength(answer.body))
    const { date: _, ...headers } = answer.headers
    t.match(await ask(path, { method: 'HEAD' }), { status: 200, headers, body: '' })
    t.match(await ask(path, { method: 'POST' }), { status: 405, headers: { allow: 'GET, HEAD' } })
    if (path !== '/') t.ok(list.includes(`\n${path} `), `${path} is listed`)
  }
  for (const path of ['/livez/', '/plants', '//docs', '/docs/../livez']) t.equal((await ask(path)).status, 404, path)
  t.equal((await ask('/openapi.json')).body, documentText)
  t.equal((await ask('/docs')).body, '<p>plants')
  t.equal((await ask('/metrics')).body, 'up 1\n')
})

t.test('readiness is asked for, liveness is not', async (t) => {
  const told: boolean[] = []
  let asked = 0
  let reason: string | undefined = 'the disk is full'
  const { ask } = await start(t, {
    async ready() {
      asked++
      if (reason !== undefined) throw new Error(reason)
    },
    onReady: (good) => told.push(good),
  })
  t.match(await ask('/livez'), { status: 200, body: 'alive\n' })
  t.equal(asked, 0)
  t.match(await ask('/readyz'), { status: 503, body: 'the disk is full\n' })
  reason = undefined
  t.match(await ask('/readyz'), { status: 200, body: 'ready\n' })
  t.same(told, [false, true])
  t.equal(asked, 2)
})

t.test('probes that come together ask once, and wait no longer than they are worth', async (t) => {
  let asked = 0
  const { ask } = await start(t, {
    ready() {
      asked++
      return asked === 1 ? new Promise(() => {}) : Promise.resolve()
    },
  })
  const probes = Promise.all([1, 2, 3].map(() => ask('/readyz')))
  t.equal((await ask('/livez')).status, 200, 'nobody else waits')
  for (const answer of await probes) t.match(answer, { status: 503, body: 'no answer within 2000 ms\n' })
  t.equal(asked, 1)
  t.equal((await ask('/readyz')).status, 200)
})

t.test('without its page it says how to make one', async (t) => {
  const { ask } = await start(t, { docs: join('no', 'such', 'page') })
  t.match(await ask('/docs'), { status: 404, body: /^[^\n]*npm run docs[^\n]*\n$/ })
})

t.test('the page is held to its own policy, and is framed nowhere', async (t) => {
  const { ask } = await start(t)
  const template = readFileSync('scripts/docs/template.hbs', 'utf8')
  const [, own] = /Content-Security-Policy" content="([^"]*)"/.exec(template) ?? []
  t.equal((await ask('/docs')).headers['content-security-policy'], `${own}; frame-ancestors 'none'`)
})

t.test('a figure that cannot be had costs one answer', async (t) => {
  const { ask, server } = await start(t, { metrics: () => Promise.reject(new Error('no figures')) })
  t.match(await ask('/metrics'), { status: 500, body: 'no figures\n' })
  server.emit('error', new Error('accept EMFILE'))
  t.equal((await ask('/livez')).status, 200)
})

t.test('whether it can listen is for its caller to know', async (t) => {
  const { port } = await start(t)
  const second = createManagement({ ...({} as ManagementOptions), contract })
  second.listen(port, '127.0.0.1')
  await t.rejects(once(second, 'listening'), { code: 'EADDRINUSE' })
})

t.test('a loopback address answers to its own names only', async (t) => {
  const { ask } = await start(t)
  const own = ['127.0.0.1', '127.0.0.1:3001', '[::1]:3001', '10.1.2.3:3001', 'localhost', 'LOCALHOST:1', 'a.localhost']
  for (const host of own) t.equal((await ask('/livez', { headers: { host } })).status, 200, host)
  for (const host of [
    'plants.example',
    'plants.example:3001',
    '127.0.0.1.example',
    'localhost.example',
    'notlocalhost',
  ]) {
    t.match(await ask('/livez', { headers: { host } }), { status: 421, body: /address/ }, host)
  }
})

t.test('where it is reached otherwise it goes by any name', async (t) => {
  const { server } = await start(t)
  stop(server)
  const socketPath = join(t.testdir({}), 'socket')
  await once(server.listen(socketPath), 'listening')
  t.equal((await ask({ socketPath, path: '/livez', headers: { host: 'plants.example' } })).status, 200)
})

t.test('a client of HTTP/1.0 names no host', async (t) => {
  const { port } = await start(t)
  const socket = connect(port, '127.0.0.1')
  socket.end('GET /livez HTTP/1.0\r\n\r\n')
  t.match(await text(socket), /^HTTP\/1\.1 200 OK\r\n.*\r\nalive\n$/s)
})

t.test('connections are few, and those that say nothing end', async (t) => {
  const { server, port, ask } = await start(t)
  const idle = Array.from({ length: server.maxConnections }, () => connect(port, '127.0.0.1').resume())
  t.teardown(() => {
    for (const socket of idle) socket.destroy()
  })
  await Promise.all(idle.map((socket) => once(socket, 'connect')))
  idle[0]?.write('GET /livez HTTP/1.1\r\nHost: ')
  await t.rejects(ask('/livez'), { code: 'ECONNRESET' })
  await Promise.all(idle.map((socket) => once(socket, 'close')))
  t.equal((await ask('/livez')).status, 200)
})

t.test('nothing outlasts its close', async (t) => {
  const { server, port, ask } = await start(t)
  const silent = connect(port, '127.0.0.1')
  await once(silent, 'connect')
  t.equal((await ask('/livez')).status, 200)
  await sleep(10)
  stop(server)
  await Promise.all([once(server, 'close'), once(silent, 'close')])
})
