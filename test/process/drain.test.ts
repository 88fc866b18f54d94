import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { defaults, run } from '../support/process.ts'
import { token } from '../support/service.ts'

/** A service, with what sends it a create on a connection that is kept, and what asks its management. */
async function start(t: Test, environment: Record<string, string> = {}) {
  const server = run(t, 'src/server.ts', { ACCESS_TOKENS: token, ...environment })
  const [, url = '', management = ''] = await server.find('stderr', / on (\S+), store \S+, management on (\S+)\n/)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const create = async () => {
    const sent = request(`${url}/plants`, { method: 'POST', agent, headers })
    sent.end('{"id":1,"name":"a"}')
    const [answer] = await once(sent, 'response')
    answer.resume()
    await once(answer, 'end')
    return [answer.statusCode, answer.headers.connection]
  }
  const readyz = async () => (await fetch(`${management}/readyz`)).status
  return { ...server, create, readyz }
}

/** A store whose creates have no outcome before the process gets SIGUSR2. */
const heldStore = `
  const waiting = []
  process.on('SIGUSR2', () => waiting.splice(0).forEach((resolve) => resolve('created')))
  export const open = async () => ({
    create: () => { console.log('taken'); return new Promise((resolve) => waiting.push(resolve)) },
    ready: async () => {},
    close: async () => {},
  })`

t.test('at SIGTERM it is unready, serves on and says that connections end, then it ends', async (t) => {
  const { child, create, readyz, ended } = await start(t, { DRAIN_TIME: '1500' })
  t.same(await create(), [200, 'keep-alive'])
  t.equal(await readyz(), 200)
  child.kill('SIGTERM')
  while ((await readyz()) === 200) await sleep(10)
  t.same(await create(), [200, 'close'])
  t.same(await create(), [200, 'close'], 'on a new connection')
  t.equal(await readyz(), 503)
  t.match(await ended, { code: 0, signal: null })
})

t.test('what is in flight is finished after the time to drain', async (t) => {
  const STORE_URL = `module:${t.testdir({ 'store.mjs': heldStore })}/store.mjs`
  const { child, create, find, ended } = await start(t, { STORE_URL, DRAIN_TIME: '100' })
  const answer = create()
  await find('stdout', /^taken$/m)
  child.kill('SIGTERM')
  await sleep(500)
  child.kill('SIGUSR2')
  t.same(await answer, [200, 'close'])
  t.match(await ended, { code: 0, signal: null })
})

t.test('who does not finish is ended at the deadline', async (t) => {
  const STORE_URL = `module:${t.testdir({ 'store.mjs': heldStore })}/store.mjs`
  const { child, create, find, ended } = await start(t, { STORE_URL, DRAIN_DEADLINE: '300' })
  const answer = create().catch(() => 'cut off')
  await find('stdout', /^taken$/m)
  child.kill('SIGTERM')
  const { code, stderr } = await ended
  t.equal(code, 1)
  t.match(stderr, /^plant-store: what was in flight has not ended within DRAIN_DEADLINE, 300 ms$/m)
  t.equal(await answer, 'cut off')
})

t.test('somebody at a terminal does not wait', async (t) => {
  const { child, ended } = await start(t, { DRAIN_TIME: '3600000' })
  child.kill('SIGINT')
  t.match(await ended, { code: 0, signal: null })
})

t.test('a second signal does not wait either', async (t) => {
  const { child, readyz, ended } = await start(t, { DRAIN_TIME: '3600000' })
  child.kill('SIGTERM')
  while ((await readyz()) === 200) await sleep(10)
  child.kill('SIGTERM')
  t.match(await ended, { code: 1, signal: null })
})

t.test('a log that nobody reads does not keep the process from its end', async (t) => {
  const env = { ...process.env, ...defaults, ACCESS_TOKENS: token, DRAIN_DEADLINE: '300' }
  const child = spawn(process.execPath, [...process.execArgv, 'src/server.ts'], { env })
  t.teardown(() => child.kill('SIGKILL'))
  let started = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    started += text
  })
  const address = () => / on (\S+), store /.exec(started)?.[1]
  while (address() === undefined) await sleep(10)
  // Each line has some hundred bytes, the pipe at most a few hundred thousand.
  for (let batch = 0; batch < 30; batch++) {
    await Promise.all(Array.from({ length: 100 }, async () => (await fetch(`${address()}/nowhere`)).text()))
  }
  child.kill('SIGTERM')
  const [code, signal] = await once(child, 'exit')
  t.same([code, signal], [null, 'SIGKILL'])
})
