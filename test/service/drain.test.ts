import { once } from 'node:events'
import { Agent } from 'node:http'
import { withKillAsExitCode } from 'fastify-contract-test-support/child-process'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { openSocket, untilRefused } from 'fastify-contract-test-support/open-socket'
import { until, within } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { request } from '../support/raw-http.ts'
import { forSourceAndBundle, type ServiceCode } from '../support/service-code.ts'
import { startService } from '../support/service-process.ts'
import { heldCreates, startWithLogOfStore, storeWith } from '../support/store-module.ts'

/** Module of a store whose writes stay pending until the process gets SIGUSR2. */
const heldStore = `
  import { anyStore } from '${import.meta.resolve('../support/any-store.js')}'
  const waiting = []
  process.on('SIGUSR2', () => waiting.splice(0).forEach((resolve) => resolve('created')))
  export const open = async () => anyStore({
    create: () => { console.log('taken'); return new Promise((resolve) => waiting.push(resolve)) },
  })`

forSourceAndBundle(t, (t, code) => {
  t.test('under npm start the service ends when its shell is terminated', async (t) => {
    const shell = ['sh', '-c', '"$@"; exit', 'sh', ...code.command]
    const { signal, untilEnded } = await startService(t, { npm_lifecycle_event: 'start' }, { command: shell })
    signal('SIGTERM')
    t.hasStrict(await untilEnded(), { signal: 'SIGTERM' })
  })

  t.test('after SIGTERM the service is unready and closes connections, but serves until DRAIN_TIME', async (t) => {
    const { signal, create, readyz, find, untilEnded } = await start(t, code, { DRAIN_TIME: '4000' })
    t.same(await create(), [200, 'keep-alive'])
    t.same(await readyz(), [200, 'ready\n'])
    const sent = performance.now()
    signal('SIGTERM')
    await until(async () => (await readyz())[0] !== 200, 'the service is unready')
    await find('stdout', /^\{"level":"info",.*"drain_time_ms":4000,"msg":"draining"\}$/m)
    t.same(await create(), [200, 'close'])
    t.same(await create(), [200, 'close'], 'on a new connection')
    t.same(await readyz(), [503, 'draining\n'])
    t.hasStrict(await untilEnded(), { code: 0, signal: null })
    t.ok(performance.now() - sent >= 4_000)
  })

  t.test('an in-flight request finishes after DRAIN_TIME', async (t) => {
    const STORE_URL = `module:${t.testdir({ 'store.mjs': heldStore })}/store.mjs`
    const { signal, create, find, port, untilEnded } = await start(t, code, { STORE_URL, DRAIN_TIME: '100' })
    const answer = create()
    await find('stdout', /^taken$/m)
    signal('SIGTERM')
    await untilRefused(port)
    signal('SIGUSR2')
    t.same(await answer, [200, 'close'])
    t.hasStrict(await untilEnded(), { code: 0, signal: null })
  })

  t.test('idle connections close a second after the listener, or earlier when DRAIN_DEADLINE is near', async (t) => {
    for (const [deadline, least] of [
      ['30000', 1_000],
      ['900', 0],
    ] as const) {
      const { signal, create, untilEnded, banner } = await start(t, code, { DRAIN_DEADLINE: deadline })
      t.same(await create(), [200, 'keep-alive'])
      const sent = performance.now()
      signal('SIGTERM')
      t.hasStrict(await untilEnded(), { code: 0, signal: null, stderr: banner })
      t.ok(performance.now() - sent >= least)
    }
  })

  t.test('a request that exceeds DRAIN_DEADLINE is cut off, and the process exits with 1', async (t) => {
    const STORE_URL = `module:${t.testdir({ 'store.mjs': heldStore })}/store.mjs`
    const { stop, create, find, banner } = await start(t, code, { STORE_URL, DRAIN_DEADLINE: '300' })
    const answer = create().catch(() => 'cut off')
    await find('stdout', /^taken$/m)
    const sent = performance.now()
    const late = 'plant-store: shutdown timed out after DRAIN_DEADLINE (300 ms) with requests in flight\n'
    t.hasStrict(withKillAsExitCode(await stop()), { code: 1, signal: null, stderr: `${banner}${late}` })
    t.ok(performance.now() - sent >= 300)
    t.equal(await answer, 'cut off')
  })

  t.test('at DRAIN_DEADLINE the store is closed, also during DRAIN_TIME', async (t) => {
    for (const DRAIN_TIME of ['0', '3600000']) {
      const STORE_URL = storeWith(t, `${heldCreates} close: async () => console.log('closed'),`, 'memory:', code)
      const { stop, create, find } = await start(t, code, { STORE_URL, DRAIN_TIME, DRAIN_DEADLINE: '300' })
      const answer = create().catch(() => 'cut off')
      await find('stdout', /^taken/m)
      const { stdout, ...end } = withKillAsExitCode(await stop())
      t.hasStrict(end, { code: 1, signal: null })
      t.match(stdout, /^closed$/m)
      t.equal(await answer, 'cut off')
    }
  })

  t.test('a timer of the application ends at DRAIN_DEADLINE, and the process exits with 0', async (t) => {
    const STORE_URL = storeWith(t, 'close: async () => setInterval(() => {}, 1_000),', 'memory:', code)
    const { stop, banner } = await start(t, code, { STORE_URL, DRAIN_DEADLINE: '900' })
    const sent = performance.now()
    t.hasStrict(await stop(), { code: 0, signal: null, stderr: banner })
    t.ok(performance.now() - sent >= 900)
  })

  t.test('SIGINT from a terminal does not wait for DRAIN_TIME', async (t) => {
    const { stop, banner } = await start(t, code, { DRAIN_TIME: '3600000' })
    t.hasStrict(await stop('SIGINT'), { code: 0, signal: null, stderr: banner })
  })

  t.test('a second signal does not wait for DRAIN_TIME', async (t) => {
    const { signal, readyz, stop, banner } = await start(t, code, { DRAIN_TIME: '3600000' })
    signal('SIGTERM')
    await until(async () => (await readyz())[0] !== 200, 'the service is unready')
    t.hasStrict(withKillAsExitCode(await stop()), { code: 1, signal: null, stderr: banner })
  })

  t.test('an unread log does not delay the exit', async (t) => {
    const { child, url, signal } = await start(t, code, { DRAIN_DEADLINE: '300' })
    child.stdout?.pause()
    const agent = new Agent({ keepAlive: true })
    t.teardown(() => agent.destroy())
    // Each line has a few hundred bytes, and the pipe buffers at most a few hundred thousand.
    for (let batch = 0; batch < 30; batch++)
      await Promise.all(Array.from({ length: 100 }, () => httpRequest(`${url}/nowhere`, { agent })))
    signal('SIGTERM')
    t.same(await within(once(child, 'exit'), 'the end of the process'), [null, 'SIGKILL'])
  })
})

/** Starts a service whose writes share one keep-alive connection. */
async function start(t: Test, { command }: ServiceCode, environment: Record<string, string> = {}) {
  const service = await startService(t, environment, { command })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const create = async () => {
    const { status, headers } = await service.create('{"id":1,"name":"a"}', {}, agent)
    return [status, headers.connection]
  }
  const readyz = async () => {
    const { status, body } = await service.page('/readyz')
    return [status, body]
  }
  return { ...service, create, readyz }
}

forSourceAndBundle(t, (t, code) => {
  const { command } = code
  t.test('a shutdown under load loses no request', async (t) => {
    const environment = { STORE_URL: storeWith(t, '', 'memory:', code), DRAIN_TIME: '4000' }
    const { create, becomes, signal, untilEnded, banner } = await startWithLogOfStore(t, environment, { command })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.teardown(() => agent.destroy())
    t.same(await create(-1, 'a', agent), [200, 'keep-alive'])
    let isReady = true
    const statuses: unknown[] = []
    const clients = Array.from({ length: 16 }, async (_, client) => {
      // Like a load balancer: sends no new requests to an unready service.
      for (let id = 0; isReady; id++) statuses.push((await create(client * 1e6 + id))[0])
    })
    const served = (count: number) => until(() => statuses.length >= count, `${count} requests are answered`)
    await served(100)
    signal('SIGTERM')
    await becomes(/^draining\n$/)
    const connection = async () => (await create(-1, 'a', agent))[1]
    await until(async () => (await connection()) === 'close', 'the service closes connections')
    await served(statuses.length + 50)
    isReady = false
    await Promise.all(clients)
    t.same(new Set(statuses), new Set([200]))
    t.hasStrict(await untilEnded(), { code: 0, signal: null, stderr: banner })
  })

  t.test('connections in the accept queue or with a partial request are served', async (t) => {
    const environment = { STORE_URL: storeWith(t, '', 'memory:', code) }
    const { port, create, signal, untilEnded, banner } = await startWithLogOfStore(t, environment, { command })
    t.same(await create(0), [200, 'close'])
    const begun = await Promise.all([1, 2, 3, 4].map(() => openSocket(t, port, request().subarray(0, 30))))
    // The kernel completes connections while the process is stopped.
    signal('SIGSTOP')
    const waiting = await Promise.all(Array.from({ length: 20 }, () => openSocket(t, port, request())))
    signal('SIGTERM')
    signal('SIGCONT')
    for (const client of waiting) t.match(await client.closed(), /^HTTP\/1\.1 200 /)
    await untilRefused(port)
    for (const { socket } of begun) socket.write(request().subarray(30))
    for (const client of begun) t.match(await client.closed(), /^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/is)
    t.hasStrict(await untilEnded(), { code: 0, signal: null, stderr: banner })
  })

  t.test('Ctrl-C finishes in-flight requests', async (t) => {
    const environment = { STORE_URL: storeWith(t, heldCreates, 'memory:', code) }
    const { create, find, signal, becomes, untilEnded, banner } = await startWithLogOfStore(t, environment, {
      command,
      detached: true,
    })
    const answer = create(1)
    const [, pid] = await find('stdout', /^taken by (\d+)\n/m)
    signal('SIGINT')
    await becomes(/^draining\n$/)
    process.kill(Number(pid), 'SIGUSR2')
    t.same(await answer, [200, 'close'])
    t.hasStrict(await untilEnded(), { code: 0, signal: null, stderr: banner })
  })

  t.test('requests that exceed DRAIN_DEADLINE are cut off and reported in one line', async (t) => {
    const environment = { STORE_URL: storeWith(t, heldCreates, 'memory:', code), DRAIN_DEADLINE: '500' }
    const { create, find, stop, banner } = await startWithLogOfStore(t, environment, { command })
    const answers = [1, 2].map((id) => create(id).catch(() => 'cut off'))
    await find('stdout', /(^taken by \d+\n){2}/m)
    const late = 'plant-store: shutdown timed out after DRAIN_DEADLINE (500 ms) with requests in flight\n'
    t.hasStrict(withKillAsExitCode(await stop()), { code: 1, signal: null, stderr: `${banner}${late}` })
    t.same(await Promise.all(answers), ['cut off', 'cut off'])
  })

  t.test('stores that do not close are reported once, and the process exits with 1', async (t) => {
    const STORE_URL = storeWith(t, "close: async () => { throw new Error('stuck') },", 'memory:', code)
    const { stop, banner } = await startWithLogOfStore(t, { STORE_URL }, { command })
    t.hasStrict(withKillAsExitCode(await stop()), { code: 1, signal: null, stderr: `${banner}plant-store: stuck\n` })
  })
})
