import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import t from 'tap'
import { type Claim, type ClaimOutcome, type KeyStore, memoryKeys } from '../../src/idempotency.ts'
import { contractPlugin } from '../../src/index.ts'
import { gate, head, keyedOptions, listen, send, serveKeyed, waiting } from './keyed-service.ts'

t.test('shutdown waits for the handler of a client that has gone', async (t) => {
  const { counter, started, waits, create } = waiting()
  const store = memoryKeys()
  const app = await serveKeyed(t, { create }, { idempotency: { store } })
  const { socket } = await openSocket(t, await listen(app))
  socket.write(head('/things', '{"id":1}'))
  await started.opened
  socket.destroy()
  await sleep(20)
  let isClosed = false
  const closed = app.close().then(() => {
    isClosed = true
  })
  await sleep(50)
  t.equal(isClosed, false)
  waits.open()
  await closed
  const next = await serveKeyed(t, { create }, { idempotency: { store } })
  t.same([(await send(next)).isReplay, counter.calls], [true, 1])
})

t.test('shutdown does not wait longer than the handler timeout', async (t) => {
  const { started, create } = waiting()
  const app = await serveKeyed(t, { create }, { limits: { handlerTime: 50 } })
  const { socket } = await openSocket(t, await listen(app))
  socket.write(head('/things', '{"id":1}'))
  await started.opened
  socket.destroy()
  await sleep(20)
  await app.close()
  t.pass('closed')
})

t.test('shutdown waits for a handler whose client goes while it waits for the connections', async (t) => {
  const { counter, started, waits, create } = waiting()
  const store = memoryKeys()
  const app = await serveKeyed(t, { create }, { idempotency: { store } })
  const { socket } = await openSocket(t, await listen(app))
  socket.write(head('/things', '{"id":1}'))
  await started.opened
  let isClosed = false
  const closed = app.close().then(() => {
    isClosed = true
  })
  await sleep(50)
  socket.destroy()
  await sleep(50)
  t.equal(isClosed, false)
  waits.open()
  await closed
  const next = await serveKeyed(t, { create }, { idempotency: { store } })
  t.same([(await send(next)).isReplay, counter.calls], [true, 1])
})

/** Returns a store whose calls end claims only after a gate opens, and the names of the calls that have ended. */
function slowStore() {
  const [asked, waits] = [gate(), gate()]
  const ended: string[] = []
  const store: KeyStore = {
    async claim(request) {
      const outcome = await kept.claim(request)
      if (outcome.state !== 'claimed') return outcome
      const { claim } = outcome
      const slowly = async <Result>(name: string, end: () => Promise<Result>) => {
        asked.open()
        await waits.opened
        ended.push(name)
        return await end()
      }
      const complete: Claim['complete'] = (completion) => slowly('complete', () => claim.complete(completion))
      return { state: 'claimed', claim: { complete, release: () => slowly('release', () => claim.release()) } }
    },
  }
  const kept = memoryKeys()
  return { asked, waits, ended, store }
}

const fails = async () => {
  throw new Error('failed')
}

for (const [name, create, status] of [
  ['complete', waiting, 201],
  ['release', () => ({ create: fails }), 500],
] as const)
  t.test(`shutdown waits for a ${name} that takes longer than storeTime, until the handler timeout`, async (t) => {
    for (const ends of [true, false]) {
      const { store, asked, waits, ended } = slowStore()
      const handler = create()
      if ('waits' in handler) handler.waits.open()
      const limits = { handlerTime: ends ? 30_000 : 300 }
      const app = await serveKeyed(t, { create: handler.create }, { idempotency: { store, storeTime: 20 }, limits })
      t.equal((await send(app)).status, status, 'the client does not wait')
      await asked.opened
      const started = performance.now()
      if (ends) setTimeout(() => waits.open(), 200)
      await app.close()
      t.same(ended, ends ? [name] : [])
      t.ok(performance.now() - started >= 190)
    }
  })

t.test('shutdown waits for the release of a claim that came too late', async (t) => {
  let resolve = (_outcome: ClaimOutcome): void => {}
  const promise = new Promise<ClaimOutcome>((settle) => {
    resolve = settle
  })
  let released = false
  const release = async () => {
    await sleep(100)
    released = true
  }
  const store: KeyStore = { claim: () => promise }
  const app = await serveKeyed(t, { create: fails }, { idempotency: { store, storeTime: 20 } })
  t.equal((await send(app)).status, 503)
  setTimeout(() => resolve({ state: 'claimed', claim: { complete: async () => true, release } }), 50)
  await app.close()
  t.equal(released, true)
})

t.test('shutdown may wait longer for a handler than Fastify waits for a hook', async (t) => {
  const started = gate()
  const create = async () => {
    started.open()
    return await new Promise<never>(() => {})
  }
  const app = Fastify({ pluginTimeout: 1_000 })
  app.register(contractPlugin, { ...keyedOptions({ create }), limits: { handlerTime: 1_500 } })
  const { socket } = await openSocket(t, await listen(app))
  socket.write(head('/things', '{"id":1}'))
  await started.opened
  socket.destroy()
  await sleep(20)
  await app.close()
  t.pass('closed')
})
