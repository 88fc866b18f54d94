import t from 'tap'
import { ContractError } from '../../src/contract/errors.ts'
import { counting, gate, send, serveKeyed } from './keyed-service.ts'

t.test('a request without a required key gets 400', async (t) => {
  const { create } = counting()
  const response = await send(await serveKeyed(t, { create }), { key: undefined })
  t.equal(response.status, 400)
  t.match(response.json().message, /Idempotency-Key/i)
})

t.test('a retry gets the stored response to the byte, marked, and the handler runs once', async (t) => {
  const counter = counting()
  const app = await serveKeyed(t, { create: counter.create, replace: counter.create })
  const body = '{"id":9007199254740993,"name":"\\u00e9"}'
  const first = await send(app, { body })
  const retry = await send(app, { body })
  t.equal(counter.calls, 1)
  t.equal(first.status, 201)
  t.equal(first.body, '{"id":9007199254740993,"name":"é"}')
  t.equal(first.isReplay, false)
  t.equal(retry.isReplay, true)
  t.same(retry.rawPayload, first.rawPayload)
  const volatile = { date: '', 'x-request-id': '', 'idempotent-replayed': '' }
  t.same({ ...retry.headers, ...volatile }, { ...first.headers, ...volatile })
  t.not(retry.headers['x-request-id'], first.headers['x-request-id'], 'each request has an id of its own')
  const plain = await send(app, { body, method: 'PUT', key: undefined })
  t.same({ ...plain.headers, ...volatile, location: '/things/1' }, { ...first.headers, ...volatile })
  t.equal(plain.body, first.body, 'an operation without keys sends the same')
})

t.test('a response without a body is replayed', async (t) => {
  let calls = 0
  const app = await serveKeyed(t, { other: async () => ({ status: 204, body: undefined, calls: calls++ }) })
  const other = { path: '/other', body: '' }
  const [first, retry] = [await send(app, other), await send(app, other)]
  t.same([first.status, retry.status, retry.isReplay, retry.body, calls], [204, 204, true, '', 1])
})

t.test('without an optional key, each request runs', async (t) => {
  let calls = 0
  const app = await serveKeyed(t, { other: async () => ({ status: 204, body: undefined, calls: calls++ }) })
  for (const key of [undefined, undefined]) await send(app, { path: '/other', body: '', key })
  t.equal(calls, 2)
})

const others = {
  body: { body: '{"id":2}' },
  'spelling of the body': { body: '{"id": 1}' },
  query: { path: '/things?q=a' },
  'media type': { contentType: 'application/vnd.thing+json' },
}

for (const [part, other] of Object.entries(others))
  t.test(`the same key with another ${part} gets 422`, async (t) => {
    const counter = counting()
    const app = await serveKeyed(t, { create: counter.create })
    await send(app)
    const response = await send(app, other)
    t.same([response.status, counter.calls], [422, 1])
    t.same(response.json(), { error: 42200, message: 'this Idempotency-Key belongs to a request with other content' })
  })

t.test('a key is that of one client and one operation', async (t) => {
  const counter = counting()
  const app = await serveKeyed(t, { create: counter.create, other: async () => ({ status: 204, body: undefined }) })
  for (const client of ['ann', 'bob', 'ann', 'bob']) await send(app, { client })
  t.equal(counter.calls, 2)
  t.equal((await send(app, { path: '/other', body: '' })).status, 204)
})

t.test('clients of one name have keys of their own if their subject or security scheme differs', async (t) => {
  const counter = counting()
  const app = await serveKeyed(t, { create: counter.create })
  const byKey = { authorization: '', 'x-key': 'ann' }
  for (const sent of [{ client: 'ann' }, { client: 'ann/a' }, { client: 'ann/b' }, { headers: byKey }])
    for (const isReplay of [false, true]) t.equal((await send(app, sent)).isReplay, isReplay)
  t.equal(counter.calls, 4)
})

t.test('a request whose key is in progress gets 409 with Retry-After, and other content 422', async (t) => {
  const [started, waiting] = [gate(), gate()]
  const app = await serveKeyed(t, {
    create: async ({ body }: { body: object }) => {
      started.open()
      await waiting.opened
      return { status: 201, body }
    },
  })
  const first = send(app)
  await started.opened
  const second = await send(app)
  t.same([second.status, second.headers['retry-after'], second.json().error], [409, '1', 40900])
  t.equal((await send(app, { body: '{"id":2}' })).status, 422)
  waiting.open()
  t.equal((await first).status, 201)
  t.equal((await send(app)).isReplay, true)
})

const unkept: Record<string, () => Promise<unknown>> = {
  'a 500 that the handler returns': async () => ({ status: 500, body: { error: 1 } }),
  'a 412 that the handler returns': async () => ({ status: 412, body: { error: 41200, message: 'changed' } }),
  'a 428 that the handler returns': async () => ({ status: 428, body: { error: 42800, message: 'no tag' } }),
  'an error of the handler': async () => Promise.reject(new Error('failed')),
  'a 503 that the handler throws': async () => Promise.reject(new ContractError('unavailable', 'later')),
  'a 429 that the handler throws': async () => Promise.reject(new ContractError('tooManyRequests', 'later')),
  'a response that does not match the document': async () => ({ status: 201, body: { id: 'x' } }),
}

for (const [name, fail] of Object.entries(unkept))
  t.test(`${name} is not kept: a retry runs the handler again`, async (t) => {
    const counter = counting()
    let isFirst = true
    const app = await serveKeyed(t, {
      create: async (input: never) => {
        if (!isFirst) return await counter.create(input)
        isFirst = false
        return await fail()
      },
    })
    t.not((await send(app)).status, 201)
    const retry = await send(app)
    t.same([retry.status, retry.isReplay, counter.calls], [201, false, 1])
  })

const kept: Record<string, () => Promise<unknown>> = {
  'a 404 that the handler returns': async () => ({ status: 404, body: { error: 40499, message: 'none' } }),
  'a 404 that the handler throws': async () =>
    Promise.reject(new ContractError('noThing', 'none', { 'x-a': 'b' }, 404)),
}

for (const [name, fail] of Object.entries(kept))
  t.test(`${name} is kept`, async (t) => {
    let calls = 0
    const app = await serveKeyed(t, {
      create: async () => {
        calls++
        return await fail()
      },
    })
    const [first, retry] = [await send(app), await send(app)]
    t.same([first.status, retry.status, retry.isReplay, calls], [404, 404, true, 1])
    t.equal(retry.body, first.body)
    t.equal(retry.headers['x-a'], first.headers['x-a'])
    t.equal(retry.headers['content-type'], first.headers['content-type'])
  })

t.test('a request that is rejected before its handler uses no key', async (t) => {
  const counter = counting()
  const app = await serveKeyed(t, { create: counter.create })
  t.equal((await send(app, { body: '{"id":"x"}' })).status, 400)
  t.equal((await send(app, { contentType: 'text/plain' })).status, 415)
  t.equal((await send(app)).status, 201)
})

for (const key of ['', '""'])
  t.test(`an empty key gets 400: ${key}`, async (t) => {
    const counter = counting()
    const response = await send(await serveKeyed(t, { create: counter.create }), { key })
    t.same([response.status, counter.calls], [400, 0])
  })

t.test('a key has any characters and any length that the schema allows', async (t) => {
  const counter = counting()
  const app = await serveKeyed(t, { create: counter.create })
  for (const key of ['a,b', 'a, b', 'a b', '"a', 'a'.repeat(9_000)])
    for (const isReplay of [false, true]) t.equal((await send(app, { key })).isReplay, isReplay)
})

t.test('a quoted key, as in the draft, is the same as one without quotes', async (t) => {
  const counter = counting()
  const app = await serveKeyed(t, { create: counter.create })
  for (const key of ['a', '"a"']) await send(app, { key })
  t.equal(counter.calls, 1)
  for (const key of ['"a, b"', '"a, b"', '"a\\"b"']) t.equal((await send(app, { key })).status, 201)
  t.equal(counter.calls, 3)
})

t.test('a cookie is not sent again', async (t) => {
  const app = await serveKeyed(t, {
    create: async ({ body }: { body: object }) => ({ status: 201, headers: { 'Set-Cookie': 'a=b', Vary: 'A' }, body }),
  })
  const [first, retry] = [await send(app), await send(app)]
  t.equal(first.headers['set-cookie'], 'a=b')
  t.equal(retry.headers['set-cookie'], undefined)
  t.same([first.headers.vary, retry.headers.vary], ['A', 'A'])
})

t.test('a response that is too large is not kept', async (t) => {
  const counter = counting()
  const { memoryKeys } = await import('../../src/idempotency.ts')
  const app = await serveKeyed(
    t,
    { create: counter.create },
    { idempotency: { store: memoryKeys(), responseBytes: 10 } },
  )
  for (const _ of [1, 2]) t.equal((await send(app)).isReplay, false)
  t.equal(counter.calls, 2)
})

t.test('with false, handlers implement the header themselves', async (t) => {
  const counter = counting()
  const app = await serveKeyed(t, { create: counter.create }, { idempotency: false })
  for (const _ of [1, 2]) t.equal((await send(app)).status, 201)
  t.equal(counter.calls, 2)
})
