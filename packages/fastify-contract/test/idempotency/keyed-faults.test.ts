import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import compress from '@fastify/compress'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import t from 'tap'
import { type Claim, type KeyStore, memoryKeys } from '../../src/idempotency.ts'
import { createLoadShedder } from '../../src/limits/limits.ts'
import { testLimits } from '../support/serve-document.ts'
import { counting, gate, head, listen, send, serveKeyed, waiting } from './keyed-service.ts'

/** Returns a handler that reads the whole body, and the number of its calls. */
function countingUploads() {
  const counter = {
    calls: 0,
    async upload({ body }: { body: AsyncIterable<unknown> }) {
      counter.calls++
      for await (const _ of body);
      return { status: 200, body: Buffer.from('done') }
    },
  }
  return counter
}

t.test('the handler of a client that has gone still runs, and its response is kept', async (t) => {
  const { counter, started, waits, create } = waiting()
  const app = await serveKeyed(t, { create })
  const { socket } = await openSocket(t, await listen(app))
  socket.write(head('/things', '{"id":1}'))
  await started.opened
  socket.destroy()
  await sleep(20)
  t.equal((await send(app)).status, 409)
  waits.open()
  await until(async () => (await send(app)).status === 201, 'the handler has ended')
  t.same([(await send(app)).isReplay, counter.calls], [true, 1])
})

t.test('the response of a handler that took too long is kept for the retry after its 503', async (t) => {
  const { counter, started, waits, create } = waiting()
  const shedder = createLoadShedder({ ...testLimits, handlerTime: 100 }, () => {})
  t.teardown(() => shedder.close())
  const app = await serveKeyed(t, { create }, { shedder })
  // The timer of the handler timeout does not keep the process running.
  await listen(app)
  const first = await send(app)
  await started.opened
  t.equal(first.status, 503)
  t.equal((await send(app)).status, 409, 'the handler still runs')
  waits.open()
  await until(async () => (await send(app)).status === 201, 'the handler has ended')
  t.same([(await send(app)).isReplay, counter.calls], [true, 1])
})

t.test('a streamed response is not kept', async (t) => {
  let calls = 0
  const upload = async ({ body }: { body: AsyncIterable<Buffer> }) => {
    calls++
    for await (const _ of body);
    return { status: 200, body: Readable.from([Buffer.from('a'), Buffer.from('b')]) }
  }
  const app = await serveKeyed(t, { upload })
  const file = { path: '/files/a', contentType: 'application/octet-stream', body: 'x' }
  for (const _ of [1, 2]) {
    const { status, body, isReplay } = await send(app, file)
    t.same([status, body, isReplay], [200, 'ab', false])
  }
  t.equal(calls, 2)
})

t.test('of a body that the handler reads, only the length is compared', async (t) => {
  const counter = countingUploads()
  const app = await serveKeyed(t, { upload: counter.upload })
  const file = { path: '/files/a', contentType: 'application/octet-stream' }
  t.equal((await send(app, { ...file, body: 'x' })).isReplay, false)
  t.equal((await send(app, { ...file, body: 'y' })).isReplay, true, 'other content of the same length')
  t.equal((await send(app, { ...file, body: 'xx' })).status, 422)
  t.equal((await send(app, { ...file, path: '/files/b', body: 'x' })).status, 422)
  t.equal(counter.calls, 1)
})

t.test('a replay does not read a large body: the connection is closed', async (t) => {
  const app = await serveKeyed(t, { upload: countingUploads().upload })
  const body = 'x'.repeat(1_000_000)
  await send(app, { path: '/files/a', contentType: 'application/octet-stream', body })
  const text = head('/files/a', body).replace('application/json', 'application/octet-stream')
  const { receives } = await openSocket(t, await listen(app), text.slice(0, -900_000))
  t.match(await receives(/done$/), /connection: close/i)
})

t.test('a multipart body may have another boundary in each attempt', async (t) => {
  const counter = countingUploads()
  const app = await serveKeyed(t, { upload: counter.upload })
  const form = (boundary: string) => ({
    path: '/files/a',
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\nv\r\n--${boundary}--\r\n`,
  })
  t.equal((await send(app, form('b'))).isReplay, false)
  t.equal((await send(app, form('other'))).isReplay, true)
  t.equal(counter.calls, 1)
})

t.test('an upload that was cut off is not kept', async (t) => {
  const counter = countingUploads()
  const app = await serveKeyed(t, { upload: counter.upload })
  const file = { path: '/files/a', contentType: 'application/octet-stream', body: 'xx' }
  const { socket } = await openSocket(t, await listen(app))
  socket.write(head('/files/a', 'xx').replace('application/json', 'application/octet-stream').slice(0, -1))
  await until(() => counter.calls === 1, 'the handler reads')
  socket.destroy()
  await until(async () => (await send(app, file)).status === 200, 'the key is free')
  t.equal(counter.calls, 2)
})

const broken = async () => Promise.reject(new Error('the database is away'))

t.test('if the store cannot be reached, the request gets 503 and its handler does not run', async (t) => {
  const counter = counting()
  const app = await serveKeyed(t, { create: counter.create }, { idempotency: { store: { claim: broken } } })
  const { status, headers } = await send(app)
  t.same([status, counter.calls], [503, 0])
  t.match(headers['retry-after'], /^[1-3]$/)
})

t.test('if the store does not answer in time, the request gets 503, and a late claim is released', async (t) => {
  const counter = counting()
  const [answers, released] = [gate(), gate()]
  const claim: Claim = { complete: async () => true, release: async () => released.open() }
  const store: KeyStore = {
    async claim() {
      await answers.opened
      return { state: 'claimed', claim }
    },
  }
  const app = await serveKeyed(t, { create: counter.create }, { idempotency: { store, storeTime: 30 } })
  t.same([(await send(app)).status, counter.calls], [503, 0])
  answers.open()
  await released.opened
})

t.test('if a response cannot be kept, it is sent, and the key stays claimed until its lease ends', async (t) => {
  const counter = counting()
  const keys = memoryKeys()
  const store: KeyStore = {
    async claim(request) {
      const outcome = await keys.claim(request)
      return outcome.state === 'claimed' ? { ...outcome, claim: { ...outcome.claim, complete: broken } } : outcome
    },
  }
  const app = await serveKeyed(t, { create: counter.create }, { idempotency: { store } })
  t.equal((await send(app)).status, 201)
  t.same([(await send(app)).status, counter.calls], [409, 1])
})

t.test('if the transaction of a handler cannot be committed, the request gets 503', async (t) => {
  const counter = counting()
  const claim: Claim = { transaction: {}, complete: broken, release: async () => {} }
  const store: KeyStore = { claim: async () => ({ state: 'claimed', claim }) }
  const app = await serveKeyed(t, { create: counter.create }, { idempotency: { store } })
  const { status, headers } = await send(app)
  t.same([status, headers.location], [503, undefined])
})

t.test('if the connection of a transaction is lost while the handler runs, the request gets 503', async (t) => {
  const claim: Claim = { transaction: {}, complete: async () => t.fail('nothing is committed'), release: broken }
  const store: KeyStore = { claim: async () => ({ state: 'claimed', claim }) }
  const app = await serveKeyed(t, { create: broken }, { idempotency: { store } })
  t.equal((await send(app)).status, 503)
})

t.test('with a transaction, an error that the handler throws is not kept: its writes are rolled back', async (t) => {
  let releases = 0
  const claim: Claim = {
    transaction: {},
    complete: async () => t.fail('nothing is committed'),
    release: async () => void releases++,
  }
  const store: KeyStore = { claim: async () => ({ state: 'claimed', claim }) }
  const create = async () => Promise.reject(Object.assign(new Error('no'), { statusCode: 404 }))
  const app = await serveKeyed(t, { create }, { idempotency: { store } })
  t.equal((await send(app)).status, 404)
  t.equal(releases, 1)
})

const hanging = () => new Promise<never>(() => {})

/** Returns a store with a claim of the test for each request. */
const storeOf = (claim: Partial<Claim>): KeyStore => ({
  claim: async () => ({ state: 'claimed', claim: { complete: broken, release: broken, ...claim } }),
})

t.test('if the store does not answer when a response is to be kept, the response is sent', async (t) => {
  const counter = counting()
  const idempotency = { store: storeOf({ complete: hanging }), storeTime: 30 }
  const app = await serveKeyed(t, { create: counter.create }, { idempotency })
  t.same([(await send(app)).status, counter.calls], [201, 1])
})

t.test('if the store does not answer when a key is to be freed, the error of the handler is sent', async (t) => {
  const idempotency = { store: storeOf({ release: hanging }), storeTime: 30 }
  const app = await serveKeyed(t, { create: broken }, { idempotency })
  t.equal((await send(app)).status, 500)
})

t.test('if a transaction is not committed in time, the request gets 503', async (t) => {
  const idempotency = { store: storeOf({ transaction: {}, complete: hanging }), storeTime: 30 }
  const app = await serveKeyed(t, { create: counting().create }, { idempotency })
  t.equal((await send(app)).status, 503)
})

/** Returns a handler that responds with a stream that nothing has read yet. */
function streaming() {
  const body = Readable.from([Buffer.from('a')])
  return { body, upload: async () => ({ status: 200, body }) }
}

const file = { path: '/files/a', contentType: 'application/octet-stream', body: 'x' }

t.test('a stream is ended if the store answers after the handler timeout', async (t) => {
  const { body, upload } = streaming()
  const answers = gate()
  const complete = async () => {
    await answers.opened
    return true
  }
  const shedder = createLoadShedder({ ...testLimits, handlerTime: 100 }, () => {})
  t.teardown(() => shedder.close())
  const app = await serveKeyed(t, { upload }, { shedder, idempotency: { store: storeOf({ complete }) } })
  await listen(app)
  t.equal((await send(app, file)).status, 503)
  answers.open()
  await until(() => body.destroyed, 'the stream is ended')
})

t.test('a stream is ended if the transaction of its handler cannot be committed', async (t) => {
  const { body, upload } = streaming()
  const app = await serveKeyed(t, { upload }, { idempotency: { store: storeOf({ transaction: {} }) } })
  t.equal((await send(app, file)).status, 503)
  await until(() => body.destroyed, 'the stream is ended')
})

t.test('a request with a new key gets 503 while the store is full, and a known one its response', async (t) => {
  const counter = counting()
  const app = await serveKeyed(t, { create: counter.create }, { idempotency: { store: memoryKeys({ keys: 1 }) } })
  await send(app)
  t.equal((await send(app, { key: 'k2' })).status, 503)
  t.equal((await send(app)).isReplay, true)
  t.equal(counter.calls, 1)
})

t.test('a handler that is slower than the lease may run twice at once, and the late one keeps nothing', async (t) => {
  const counter = counting()
  const [started, waits] = [gate(), gate()]
  const create = async (input: never) => {
    const response = await counter.create(input)
    if (counter.calls > 1) return response
    started.open()
    await waits.opened
    return response
  }
  let time = 0
  const store = memoryKeys({ lease: 1_000 }, () => time)
  const app = await serveKeyed(t, { create }, { idempotency: { store } })
  const first = send(app)
  await started.opened
  time = 1_001
  t.equal((await send(app)).headers.location, '/things/2')
  waits.open()
  t.equal((await first).headers.location, '/things/1')
  const replay = await send(app)
  t.same([replay.isReplay, replay.headers.location, counter.calls], [true, '/things/2', 2])
})

t.test('a replay is compressed as its own request accepts', async (t) => {
  const counter = counting()
  const app = await serveKeyed(
    t,
    { create: counter.create },
    { plugins: (app) => void app.register(compress, { threshold: 0, encodings: ['gzip'] }) },
  )
  const first = await send(app, { headers: { 'accept-encoding': 'gzip' } })
  t.equal(first.headers['content-encoding'], 'gzip')
  const plain = await send(app)
  t.same([plain.isReplay, plain.headers['content-encoding'], plain.body], [true, undefined, '{"id":1}'])
  const again = await send(app, { headers: { 'accept-encoding': 'gzip' } })
  t.same([again.isReplay, again.headers['content-encoding']], [true, 'gzip'])
  t.same(again.rawPayload, first.rawPayload)
})
