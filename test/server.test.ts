import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withKillAsExitCode } from 'fastify-contract-test-support/child-process'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import { writeTokenFile } from 'fastify-contract-test-support/token-files'
import t from 'tap'
import { type Endpoint, endpoints } from '../packages/fastify-contract-cli/src/document/openapi-document.ts'
import { exampleResponse } from '../packages/fastify-contract-cli/src/examples/examples.ts'
import { document } from './support/contract.ts'
import { coveredCode } from './support/service-code.ts'
import { spawnService, startService } from './support/service-process.ts'
import { sqliteSkipReason } from './support/sqlite.ts'
import { token } from './support/test-app.ts'

/** The URL of the module with `anyStore`, which creates a store for a test. */
const storeHelper = import.meta.resolve('./support/any-store.js')

/** The limit that Linux sets to the listen backlog of a socket; 0 on other systems. */
const somaxconn = process.platform === 'linux' ? Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')) : 0

const served = (name: string) => ({ status: 200, body: JSON.stringify({ name }) })

t.test('a plant survives a restart', { skip: sqliteSkipReason }, async (t) => {
  const STORE_URL = `sqlite:${join(t.testdir({}), 'data', 'plants.db')}`
  const plant = '{"id":9223372036854775807,"name":"Monstera deliciosa"}'
  const first = await startService(t, { STORE_URL })
  const { banner, url, managementUrl } = first
  t.equal(
    banner,
    `plant-store ${document.info.version} on ${url}, store ${STORE_URL}, admin server on ${managementUrl}\n`,
  )
  t.hasStrict(await first.create(plant), served('Monstera deliciosa'))

  const second = await spawnService({ STORE_URL }).untilEnded()
  t.hasStrict(second, {
    code: 1,
    stdout: '',
    stderr: `plant-store: STORE_URL is "${STORE_URL}": it is in use by another process\n`,
  })

  t.hasStrict(await first.stop(), { code: 0, signal: null, stderr: banner })

  const again = await startService(t, { STORE_URL })
  t.hasStrict(await again.create(plant), served('Monstera deliciosa'))
  t.hasStrict(await again.create('{"id":9223372036854775807,"name":"Another"}'), {
    status: 409,
    body: '{"error":40900,"message":"id 9223372036854775807 belongs to another plant"}',
  })
  t.hasStrict(await again.stop('SIGINT'), { code: 0, signal: null, stderr: again.banner })
})

t.test('without ACCESS_TOKENS a token is generated and the printed command works', async (t) => {
  const { find, stop } = await startService(t, { ACCESS_TOKENS: '' }, coveredCode)
  const [, command = '', made = ''] = await find(
    'stderr',
    /^(curl .* 'Authorization: Bearer (plants_[\w-]{49})' .*)\n/m,
  )
  const { stdout } = await promisify(execFile)('bash', ['-c', command])
  const [create] = endpoints(document).filter(({ operationId }) => operationId === 'createPlant') as [Endpoint]
  t.equal(stdout, JSON.stringify(exampleResponse(document, create).body))
  const { code, stdout: log } = await stop()
  t.equal(code, 0)
  t.match(log, /"msg":"request"/)
  t.notOk(log.includes(made), 'the log has no token')
})

t.test('a signal finishes in-flight requests; a second signal exits at once', async (t) => {
  const body = '{"id":1,"name":"a"}'
  const unfinished =
    `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`
  /** Starts a service, opens a silent connection and one with half a request, then sends SIGTERM. */
  const drainWithRequest = async () => {
    const service = await startService(t)
    // The service accepts connections in order, so the silent one is open when the request arrives.
    const silent = await openSocket(t, service.port)
    const busy = await openSocket(t, service.port, unfinished)
    const isActive = async () => /^http_server_active_requests 1$/m.test((await service.page('/metrics')).body)
    await until(isActive, 'the request is in flight')
    service.signal('SIGTERM')
    await until(async () => (await service.page('/readyz')).body === 'draining\n', 'the service drains')
    // Only then does the response in flight also close its connection.
    const isRefused = () =>
      fetch(`http://127.0.0.1:${service.port}/`).then(
        () => false,
        () => true,
      )
    await until(isRefused, 'the listener is closed')
    return { ...service, silent, busy }
  }

  const { busy, silent, untilEnded } = await drainWithRequest()
  busy.socket.write(body.slice(5))
  const answer = await busy.closed()
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n([^\r\n]+\r\n)*connection: close\r\n/i)
  t.match(answer, /\r\n\r\n\{"name":"a"\}$/)
  t.equal(await silent.closed(), '')
  t.hasStrict(await untilEnded(), { code: 0, signal: null })

  const stubborn = await drainWithRequest()
  t.hasStrict(withKillAsExitCode(await stubborn.stop()), { code: 1, signal: null })
})

t.test('invalid configuration stops the start with one line', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const PORT = String((taken.address() as AddressInfo).port)
  const cases: [Record<string, string>, RegExp][] = [
    [{ PORT }, /^plant-store: PORT is \d+: another process listens on 127\.0\.0\.1:\d+; use a free port\n$/],
    [{ HOST: '192.0.2.1' }, /^plant-store: HOST is 192\.0\.2\.1: this machine has no such address; .*\n$/],
    [{ HOST: 'fe80::1' }, /^plant-store: listen .*\n$/],
    [{ PORT: 'x' }, /^plant-store: PORT is "x"; expected an integer from 0 to 65535\n$/],
    [{ STORE_URL: 'sqlite:/dev/null/plants.db' }, /^plant-store: STORE_URL is "sqlite:\/dev\/null\/plants.db": .*\n$/],
    [{ HOST: '0.0.0.0', ACCESS_TOKENS: '' }, /^plant-store: ACCESS_TOKENS is not set; .*\n$/],
  ]
  for (const [environment, line] of cases) {
    const { code, stdout, stderr } = withKillAsExitCode(await spawnService(environment, coveredCode).untilEnded())
    t.same([code, stdout], [1, ''])
    t.match(stderr, line)
  }
})

t.test('a permanent store failure ends the process with exit code 1', async (t) => {
  const directory = t.testdir({
    'store.mjs': `import { anyStore } from '${storeHelper}'
    export const open = async () => anyStore({
      create: async () => { throw Object.assign(new Error('failed'), { retryAfter: 1 }) },
      failure: new Promise((resolve) => process.once('SIGUSR2', () => resolve(new Error('the disk is on fire')))),
    })`,
  })
  const { create, stop, banner } = await startService(t, { STORE_URL: `module:${directory}/store.mjs` }, coveredCode)
  t.equal((await create('{"id":1,"name":"a"}')).status, 503)
  const told = 'plant-store: the store has failed: the disk is on fire\n'
  t.hasStrict(withKillAsExitCode(await stop('SIGUSR2')), { code: 1, signal: null, stderr: `${banner}${told}` })
})

t.test('a slow client does not delay the exit after a store failure', async (t) => {
  const directory = t.testdir({
    'store.mjs': `import { anyStore } from '${storeHelper}'
    export const open = async () => anyStore({
      failure: new Promise((resolve) => process.once('SIGUSR2', () => resolve(new Error('gone')))),
    })`,
  })
  const { port, signal, untilEnded, banner } = await startService(t, {
    STORE_URL: `module:${directory}/store.mjs`,
    // Long timeouts, so that no other limit closes the connection.
    HEADERS_TIMEOUT: '300000',
    REQUEST_TIMEOUT: '300000',
  })
  // One write: after the first response, the service has received the beginning of the second request, too.
  const beginning = 'POST /plants HTTP/1.1\r\nHost: a\r\n'
  const client = await openSocket(t, port, `GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n${beginning}`)
  await client.receives(/^HTTP\/1\.1 404 /)
  signal('SIGUSR2')
  t.hasStrict(withKillAsExitCode(await untilEnded()), {
    code: 1,
    signal: null,
    stderr: `${banner}plant-store: the store has failed: gone\n`,
  })
})

t.test('a signal or a failed start ends a service that does not serve yet', async (t) => {
  const directory = t.testdir({
    'slow.mjs': `export const open = () => { console.log('opening'); return new Promise(() => setInterval(() => {}, 1e6)) }`,
    'lines.mjs': `export const open = async () => { throw new Error('one\\n  two\\n\\nthree\\n') }`,
    'half.mjs': 'setInterval(() => {}, 1e6); export const open = () => ({})',
    'stuck.mjs': `import { anyStore } from '${storeHelper}'
    export const open = () => anyStore({ close: async () => { throw new Error('stuck') } })`,
  })
  const STORE_URL = `module:${directory}/slow.mjs`
  const slow = spawnService({ STORE_URL }, coveredCode)
  await slow.find('stdout', /^opening$/m)
  t.same(await slow.stop(), { code: 0, signal: null, stdout: 'opening\n', stderr: '' })
  const half = `module:${directory}/half.mjs`
  t.same(withKillAsExitCode(await spawnService({ STORE_URL: half }).untilEnded()), {
    code: 1,
    signal: null,
    stdout: '',
    stderr: `plant-store: STORE_URL is "${half}": open() returned a value without the function create; return a store\n`,
  })
  const { stderr } = await spawnService({ STORE_URL: `module:${directory}/lines.mjs` }).untilEnded()
  t.match(stderr, /^plant-store: STORE_URL is "[^\n]+": one; two; three\n$/, 'one line')
  const stuck = await startService(t, { STORE_URL: `module:${directory}/stuck.mjs` })
  t.hasStrict(withKillAsExitCode(await stuck.stop()), {
    code: 1,
    signal: null,
    stderr: `${stuck.banner}plant-store: stuck\n`,
  })
})

t.test('the password of a store URL is never printed', async (t) => {
  const STORE_URL = 'postgres://me:s3cret@127.0.0.1:1/plants'
  const { code, stdout, stderr } = withKillAsExitCode(await spawnService({ STORE_URL }).untilEnded())
  t.match(
    stderr,
    /^plant-store: STORE_URL is "postgres:\/\/me:\*\*\*@127\.0\.0\.1:1\/plants": no server can be used: .*\n$/,
  )
  t.notMatch(stdout + stderr, /s3cret/)
  t.equal(code, 1)
})

t.test('an IPv6 address is printed in brackets, and the forms of the admin server may call it', async (t) => {
  const { url, managementUrl, create, stop } = await startService(t, { HOST: '::1' }, coveredCode)
  t.match(url, /^http:\/\/\[::1\]:\d+$/)
  t.hasStrict(await create('{"id":1,"name":"a"}'), served('a'))
  const allowed = async (origin: string) =>
    (await httpRequest(`${url}/none`, { headers: { origin } })).headers['access-control-allow-origin']
  const local = managementUrl.replace('127.0.0.1', 'localhost')
  t.same([await allowed(managementUrl), await allowed(local)], [managementUrl, local])
  t.equal(await allowed('http://localhost:1'), undefined)
  t.hasStrict(await stop(), { code: 0, signal: null })
})

t.test('a broken token file is logged and counted, and its last good tokens stay valid', async (t) => {
  const path = writeTokenFile(t, ['gardener', token])
  const good = readFileSync(path, 'utf8')
  const { find, create, page, stop } = await startService(t, { ACCESS_TOKENS: '', TOKENS_FILE: path }, coveredCode)
  const figure = async () => /^plant_store_tokens_file_good (\d)$/m.exec((await page('/metrics')).body)?.[1]
  await find('stdout', /^\{"level":"info".*"clients":1,"msg":"token file loaded"\}$/m)
  t.equal(await figure(), '1')
  t.hasStrict(await create('{"id":1,"name":"a"}'), served('a'))
  writeFileSync(path, good.slice(1))
  await find('stdout', /^\{"level":"error".*"msg":"invalid token file; keeping the previous tokens"\}$/m)
  t.equal(await figure(), '0')
  t.hasStrict(await create('{"id":1,"name":"a"}'), served('a'))
  writeFileSync(path, good)
  await find('stdout', /(token file loaded"\}\n[\s\S]*){2}/)
  t.equal(await figure(), '1')
  writeFileSync(`${path}.new`, good + ' '.repeat(2 ** 24), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  await find('stdout', /^\{"level":"warn".*"bytes":16777\d+,"msg":"token file is large, [^"]+"\}$/m)
  t.hasStrict(await stop(), { code: 0, signal: null })

  const refused = await spawnService({ ACCESS_TOKENS: '', TOKENS_FILE: '/nowhere/tokens.json' }).untilEnded()
  t.match(refused, {
    code: 1,
    stderr: /^plant-store: TOKENS_FILE is "\/nowhere\/tokens.json": the file does not exist; create it[^\n]*\n$/,
  })
})

t.test('connections over the limit are counted', async (t) => {
  const { port, page } = await startService(t, { CONNECTIONS_LIMIT: '1' }, coveredCode)
  const first = await openSocket(t, port)
  const second = await openSocket(t, port)
  t.equal(await second.closed(), '')
  t.match((await page('/metrics')).body, /^plant_store_requests_refused_total\{reason="connections"\} 1$/m)
  t.notOk(first.isClosed())
})

t.test('a busy service lets a burst of connections queue', { skip: somaxconn < 1000 }, async (t) => {
  const { port, signal } = await startService(t)
  signal('SIGSTOP')
  await Promise.all(Array.from({ length: 900 }, () => openSocket(t, port)))
})
