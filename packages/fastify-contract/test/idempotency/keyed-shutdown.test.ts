import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import t from 'tap'
import { memoryKeys } from '../../src/idempotency.ts'
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
