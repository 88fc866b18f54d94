import { Agent } from 'node:http'
import t from 'tap'
import { until } from '../../scripts/system/poll.ts'
import { withKillAsExitCode } from '../support/child-process.ts'
import { openSocket, untilRefused } from '../support/open-socket.ts'
import { request } from '../support/raw-http.ts'
import { forSourceAndBundle } from '../support/service-code.ts'
import { heldCreates, startWithLogOfStore, storeWith } from '../support/store-module.ts'

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
    const late = 'plant-store: requests in flight did not finish within DRAIN_DEADLINE, 500 ms\n'
    t.hasStrict(withKillAsExitCode(await stop()), { code: 1, signal: null, stderr: `${banner}${late}` })
    t.same(await Promise.all(answers), ['cut off', 'cut off'])
  })

  t.test('stores that do not close are reported once, and the process exits with 1', async (t) => {
    const STORE_URL = storeWith(t, "close: async () => { throw new Error('stuck') },", 'memory:', code)
    const { stop, banner } = await startWithLogOfStore(t, { STORE_URL }, { command })
    t.hasStrict(withKillAsExitCode(await stop()), { code: 1, signal: null, stderr: `${banner}plant-store: stuck\n` })
  })
})
