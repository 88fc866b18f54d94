import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createAt, startGroup, startWorkers, storeWith } from '../support/workers.ts'

/** Creates have no outcome before the process gets SIGUSR2. */
const held = `
  create: () => {
    console.log('taken by ' + process.pid)
    return new Promise((resolve) => process.once('SIGUSR2', () => resolve('created')))
  },`

t.test('no request is lost when a service under load is told to end', async (t) => {
  const { create, readyz, child, ended, line } = await startWorkers(t, { STORE_URL: storeWith(t), DRAIN_TIME: '1000' })
  let isReady = true
  const statuses: number[] = []
  const clients = Array.from({ length: 16 }, async (_, client) => {
    // As a load balancer does: what is unready is sent nothing new.
    for (let id = 0; isReady; id++) statuses.push((await create(client * 1e6 + id))[0])
  })
  await sleep(500)
  child.kill('SIGTERM')
  while ((await readyz()) === 'ready\n') await sleep(20)
  t.equal(await readyz(), 'draining\n')
  t.same(await create(-1), [200, 'close'])
  await sleep(200)
  isReady = false
  await Promise.all(clients)
  t.ok(statuses.length > 50, `${statuses.length} requests`)
  t.same(new Set(statuses), new Set([200]))
  t.match(await ended, { code: 0, signal: null, stderr: line })
})

t.test('Ctrl-C, which each process gets, finishes what is in flight', async (t) => {
  const { child, ended, url, stdout } = await startGroup(t, storeWith(t, held))
  const group = -(child.pid as number)
  const answer = createAt(url, 1, 'a', false)
  const taken = () => /^taken by (\d+)$/m.exec(stdout())?.[1]
  while (taken() === undefined) await sleep(20)
  process.kill(group, 'SIGINT')
  await sleep(300)
  process.kill(Number(taken()), 'SIGUSR2')
  t.equal((await answer)[0], 200)
  t.same(await ended, [0, null])
})

t.test('who does not finish is ended at the deadline, with one line', async (t) => {
  const environment = { STORE_URL: storeWith(t, held), DRAIN_DEADLINE: '500' }
  const { create, find, child, ended, line } = await startWorkers(t, environment)
  const answers = [1, 2].map((id) => create(id).catch(() => 'cut off'))
  await find('stdout', /(^taken by \d+\n){2}/m)
  child.kill('SIGTERM')
  const late = 'plant-store: what was in flight has not ended within DRAIN_DEADLINE, 500 ms\n'
  t.match(await ended, { code: 1, signal: null, stderr: `${line}${late}` })
  t.same(await Promise.all(answers), ['cut off', 'cut off'])
})

t.test('a store that does not close is told once, and is no end in peace', async (t) => {
  const stuck = storeWith(t, "close: async () => { throw new Error('stuck') },")
  const { child, ended, line } = await startWorkers(t, { STORE_URL: stuck })
  child.kill('SIGTERM')
  t.match(await ended, { code: 1, signal: null, stderr: `${line}plant-store: stuck\n` })
})
