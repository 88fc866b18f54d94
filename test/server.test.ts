import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { run } from './support/process.ts'
import { token } from './support/service.ts'
import { tokensFile } from './support/tokens.ts'

const ACCESS_TOKENS = token

async function start(t: Test, environment: Record<string, string> = {}) {
  const server = run(t, 'src/server.ts', { ACCESS_TOKENS, ...environment })
  const [line, url = '', management] = await server.find('stderr', /^plant-store \S+ on (\S+), .* on (\S+)\n/)
  const create = async (body: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/plants`, { method: 'POST', headers, body })
    return [answer.status, await answer.text()]
  }
  return { ...server, url, management, line, create }
}

t.test('a plant outlives the process', async (t) => {
  const STORE_URL = `sqlite:${join(t.testdir({}), 'data', 'plants.db')}`
  const plant = '{"id":9223372036854775807,"name":"Monstera deliciosa"}'
  const first = await start(t, { STORE_URL })
  t.equal(first.line, `plant-store 1.0.0 on ${first.url}, store ${STORE_URL}, management on ${first.management}\n`)
  t.same(await first.create(plant), [200, '{"name":"Monstera deliciosa"}'])

  const second = await run(t, 'src/server.ts', { ACCESS_TOKENS, STORE_URL }).ended
  t.match(second, { code: 1, stderr: `plant-store: STORE_URL is "${STORE_URL}": it is in use by another process\n` })

  first.child.kill('SIGTERM')
  t.match(await first.ended, { code: 0, signal: null, stderr: first.line })

  const again = await start(t, { STORE_URL })
  t.same(await again.create(plant), [200, '{"name":"Monstera deliciosa"}'])
  const other = await again.create('{"id":9223372036854775807,"name":"Another"}')
  t.same(other, [409, '{"error":40900,"message":"id 9223372036854775807 belongs to another plant"}'])
  again.child.kill('SIGINT')
  t.match(await again.ended, { code: 0, signal: null })
})

t.test('without tokens one is made, with a command that works', async (t) => {
  const server = run(t, 'src/server.ts')
  const [, command = ''] = await server.find('stderr', /^(curl .*)\n/m)
  const { stdout } = await promisify(execFile)('bash', ['-c', command])
  t.equal(stdout, '{"name":"Monstera deliciosa","tag":"indoor"}')
  server.child.kill('SIGTERM')
  const { code, stdout: log } = await server.ended
  t.equal(code, 0)
  t.notMatch(log, /Bearer/)
})

t.test('what is in flight is finished, a second signal ends at once', async (t) => {
  const { child, url, ended } = await start(t)
  const { port } = new URL(url)
  const body = '{"id":1,"name":"a"}'
  const unfinished =
    `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(unfinished)
  const silent = connect(Number(port), '127.0.0.1')
  t.teardown(() => silent.destroy())
  await new Promise((resolve) => setTimeout(resolve, 200))
  child.kill('SIGTERM')
  await new Promise((resolve) => setTimeout(resolve, 200))
  socket.write(body.slice(5))
  const answer = String(await new Promise((resolve) => socket.once('data', resolve)))
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(answer, /connection: close/i)
  t.match(await ended, { code: 0, signal: null })

  const stubborn = await start(t)
  const open = connect(Number(new URL(stubborn.url).port), '127.0.0.1')
  open.on('error', () => {}).write(unfinished)
  await new Promise((resolve) => setTimeout(resolve, 200))
  stubborn.child.kill('SIGTERM')
  await new Promise((resolve) => setTimeout(resolve, 200))
  stubborn.child.kill('SIGTERM')
  t.match(await stubborn.ended, { code: 1, signal: null })
})

t.test('a start that cannot be is refused with one line', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const PORT = String((taken.address() as AddressInfo).port)
  const cases: [Record<string, string>, RegExp][] = [
    [{ PORT }, /^plant-store: PORT is \d+: another process listens on 127\.0\.0\.1:\d+, allowed: a free port\n$/],
    [{ HOST: '192.0.2.1' }, /^plant-store: HOST is 192\.0\.2\.1: this machine has no such address, .*\n$/],
    [{ HOST: 'fe80::1' }, /^plant-store: listen .*\n$/],
    [{ PORT: 'x' }, /^plant-store: PORT is "x", allowed: an integer from 0 to 65535\n$/],
    [{ STORE_URL: 'sqlite:/dev/null/plants.db' }, /^plant-store: STORE_URL is "sqlite:\/dev\/null\/plants.db": .*\n$/],
    [{ HOST: '0.0.0.0', ACCESS_TOKENS: '' }, /^plant-store: ACCESS_TOKENS is not set, .*\n$/],
  ]
  for (const [environment, line] of cases) {
    const { code, stdout, stderr } = await run(t, 'src/server.ts', { ACCESS_TOKENS, ...environment }).ended
    t.same([code, stdout], [1, ''])
    t.match(stderr, line)
  }
})

t.test('when the store fails for good, the process ends and a supervisor can start it anew', async (t) => {
  const directory = t.testdir({
    'store.mjs': `export const open = async () => ({
      create: async () => { throw Object.assign(new Error('failed'), { retryAfter: 1 }) },
      ready: async () => {},
      close: async () => {},
      failure: new Promise((resolve) => process.once('SIGUSR2', () => resolve(new Error('the disk is on fire')))),
    })`,
  })
  const { child, create, ended } = await start(t, { STORE_URL: `module:${directory}/store.mjs` })
  t.match(await create('{"id":1,"name":"a"}'), [503])
  child.kill('SIGUSR2')
  t.match(await ended, { code: 1, stderr: 'plant-store: the store has failed: the disk is on fire\n' })
})

t.test('a slow client does not keep a service whose store has failed', async (t) => {
  const directory = t.testdir({
    'store.mjs': `export const open = async () => ({
      create: async () => {}, ready: async () => {}, close: async () => {},
      failure: new Promise((resolve) => process.once('SIGUSR2', () => resolve(new Error('gone')))),
    })`,
  })
  const { child, url, ended } = await start(t, { STORE_URL: `module:${directory}/store.mjs` })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {}).write('POST /plants HTTP/1.1\r\nHost: a\r\n')
  await new Promise((resolve) => setTimeout(resolve, 200))
  child.kill('SIGUSR2')
  t.match(await ended, { code: 1, stderr: 'plant-store: the store has failed: gone\n' })
})

t.test('a signal ends a service that does not serve yet, and a start that is refused ends it, too', async (t) => {
  const directory = t.testdir({
    'slow.mjs': `export const open = () => { console.log('opening'); return new Promise(() => setInterval(() => {}, 1e6)) }`,
    'half.mjs': 'setInterval(() => {}, 1e6); export const open = () => ({})',
    'stuck.mjs': `export const open = () => ({
      create: async () => {}, ready: async () => {}, close: async () => { throw new Error('stuck') },
    })`,
  })
  const STORE_URL = `module:${directory}/slow.mjs`
  const slow = run(t, 'src/server.ts', { ACCESS_TOKENS, STORE_URL })
  await slow.find('stdout', /opening/)
  slow.child.kill('SIGTERM')
  t.match(await slow.ended, { code: 0, signal: null })
  const half = await run(t, 'src/server.ts', { ACCESS_TOKENS, STORE_URL: `module:${directory}/half.mjs` }).ended
  t.match(half, { code: 1, stderr: /: its open gives no store: it has no function create\n$/ })
  const stuck = await start(t, { STORE_URL: `module:${directory}/stuck.mjs` })
  stuck.child.kill('SIGTERM')
  t.match(await stuck.ended, { code: 1, stderr: 'plant-store: stuck\n' })
})

t.test('a password in the URL of a store is not shown', async (t) => {
  const STORE_URL = 'postgres://me:s3cret@127.0.0.1:1/plants'
  const { code, stdout, stderr } = await run(t, 'src/server.ts', { ACCESS_TOKENS, STORE_URL }).ended
  t.match(
    stderr,
    /^plant-store: STORE_URL is "postgres:\/\/me:\*\*\*@127\.0\.0\.1:1\/plants": no server can be used: .*\n$/,
  )
  t.notMatch(stdout + stderr, /s3cret/)
  t.equal(code, 1)
})

t.test('an address of IPv6 is written as one', async (t) => {
  const { url, create, child, ended } = await start(t, { HOST: '::1' })
  t.match(url, /^http:\/\/\[::1\]:\d+$/)
  t.same(await create('{"id":1,"name":"a"}'), [200, '{"name":"a"}'])
  child.kill('SIGTERM')
  t.match(await ended, { code: 0 })
})

t.test('a tokens file that breaks is told in the log and by a metric, and its last good tokens go on', async (t) => {
  const path = tokensFile(t, ['gardener', token])
  const good = readFileSync(path, 'utf8')
  const { child, find, create, management } = await start(t, { ACCESS_TOKENS: '', TOKENS_FILE: path })
  const figure = async () =>
    /^plant_store_tokens_file_good (\d)$/m.exec(await (await fetch(`${management}/metrics`)).text())?.[1]
  await find('stdout', /^\{"level":"info".*"clients":1,"msg":"tokens file read"\}$/m)
  t.equal(await figure(), '1')
  t.same(await create('{"id":1,"name":"a"}'), [200, '{"name":"a"}'])
  writeFileSync(path, good.slice(1))
  await find('stdout', /^\{"level":"error".*"msg":"tokens file cannot be used, the last good one is kept"\}$/m)
  t.equal(await figure(), '0')
  t.same(await create('{"id":1,"name":"a"}'), [200, '{"name":"a"}'])
  writeFileSync(path, good)
  await find('stdout', /(tokens file read"\}\n[\s\S]*){2}/)
  t.equal(await figure(), '1')
  child.kill('SIGTERM')

  const refused = await run(t, 'src/server.ts', { TOKENS_FILE: '/nowhere/tokens.json' }).ended
  t.match(refused, { code: 1, stderr: /^plant-store: TOKENS_FILE is "\/nowhere\/tokens.json": ENOENT[^\n]*\n$/ })
})

t.test('more connections than are allowed are counted', async (t) => {
  const { url, management } = await start(t, { CONNECTIONS_LIMIT: '1' })
  const port = Number(new URL(url).port)
  const first = connect(port, '127.0.0.1')
  t.teardown(() => first.destroy())
  await once(first, 'connect')
  await once(connect(port, '127.0.0.1').resume(), 'close')
  const metrics = await (await fetch(`${management}/metrics`)).text()
  t.match(metrics, /^plant_store_requests_refused_total\{reason="connections"\} 1$/m)
})
