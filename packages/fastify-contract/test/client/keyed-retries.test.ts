import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { type ClientOptions, exactClient } from '../../src/client/exact-client.ts'

type Json<Body> = { content: { 'application/json': Body } }
type Created = {
  parameters: { header: { 'Idempotency-Key': string; 'X-A'?: string } }
  responses: { 201: Json<{ id: number }> }
}

type Paths = {
  '/things': { post: Created & { requestBody: Json<{ name: string }> }; get: { responses: { 200: Json<object> } } }
  '/forms': {
    post: Created & {
      requestBody: { content: { 'multipart/form-data': { file: Blob; name: string } } }
      kinds: { 'multipart/form-data': 'multipart' }
    }
  }
  '/files': { post: Created & { requestBody: { content: { 'application/octet-stream': string } } } }
}

const table = { keyed: ['POST /things', 'POST /files', 'POST /forms'] }

type Answer = { status: number; retryAfter?: string; isEmpty?: true } | Error

/** Returns a client whose requests get given answers, the last one again and again, and the requests. */
function clientOf(answers: Answer[], options: Partial<ClientOptions> = {}) {
  const requests: { key: string | null; body: string }[] = []
  const fetch = async (request: Request) => {
    requests.push({ key: request.headers.get('idempotency-key'), body: await request.text() })
    const answer = answers[Math.min(requests.length, answers.length) - 1] as Answer
    if (answer instanceof Error) throw answer
    const headers = answer.retryAfter === undefined ? {} : { 'retry-after': answer.retryAfter }
    return new Response(answer.isEmpty ? null : '{"id":1}', { status: answer.status, headers })
  }
  return { requests, client: exactClient<Paths>(table, { baseUrl: 'http://a', fetch, ...options }) }
}

const failed = new TypeError('fetch failed')
const body = { name: 'a' }

t.test('the client makes a key for each call of an operation that declares the header', async (t) => {
  const { requests, client } = clientOf([{ status: 201 }])
  for (const _ of [1, 2]) await client.POST('/things', { body })
  await client.GET('/things')
  const [first, second, read] = requests
  t.match(first?.key, /^[\da-f]{32}$/)
  t.not(first?.key, second?.key)
  t.equal(read?.key, null)
})

t.test('a key of the caller is sent as it is', async (t) => {
  const { requests, client } = clientOf([{ status: 201 }])
  await client.POST('/things', { body, params: { header: { 'Idempotency-Key': 'mine' } } })
  await client.POST('/things', { body, headers: { 'idempotency-key': 'own' } })
  t.same(
    requests.map(({ key }) => key),
    ['mine', 'own'],
  )
})

const retried: Record<string, Answer> = {
  'no response': failed,
  'a 409 with Retry-After': { status: 409, retryAfter: '0' },
  'a 503': { status: 503 },
  'a 429': { status: 429, retryAfter: '0' },
  'a 502 without a body': { status: 502, isEmpty: true },
}

for (const [name, answer] of Object.entries(retried))
  t.test(`after ${name}, the client sends the same request with the same key again`, async (t) => {
    const { requests, client } = clientOf([answer, { status: 201 }])
    t.equal((await client.POST('/things', { body })).status, 201)
    t.equal(requests.length, 2)
    t.same(requests[0], requests[1])
  })

const returned: Record<string, Answer> = {
  'a 409 without Retry-After': { status: 409 },
  'a 422': { status: 422 },
  'a 500': { status: 500 },
  'a 503 whose Retry-After is long': { status: 503, retryAfter: '3600' },
}

for (const [name, answer] of Object.entries(returned))
  t.test(`the client returns ${name}`, async (t) => {
    const { requests, client } = clientOf([answer])
    t.ok((await client.POST('/things', { body })).response)
    t.equal(requests.length, 1)
  })

t.test('a response whose body breaks is requested again with the same key', async (t) => {
  const keys: (string | undefined)[] = []
  const server = createServer(({ headers }, response) => {
    keys.push(headers['idempotency-key'] as string)
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': 8 })
    if (keys.length > 1) response.end('{"id":1}')
    else response.write('{"id"', () => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = exactClient<Paths>(table, { baseUrl })
  t.match(await client.POST('/things', { body }), { status: 201, data: { id: 1 } })
  t.equal(keys.length, 2)
  t.equal(keys[0], keys[1])
  keys.length = 0
  await t.rejects(client.POST('/things', { body, retries: 0 }), { name: 'TypeError', message: 'terminated' })
})

t.test('a form is sent again, and each attempt has all its fields', async (t) => {
  const { requests, client } = clientOf([failed, { status: 201 }])
  await client.POST('/forms', { contentType: 'multipart/form-data', body: { file: new Blob(['a']), name: 'b' } })
  const [first, second] = requests.map(({ body }) => body.replace(/-{2,}[^\r]+/g, 'BOUNDARY'))
  t.match(first, 'name="file"')
  t.match(first, 'name="name"')
  t.equal(first, second)
})

t.test('the number of retries is bounded, by the call or the client', async (t) => {
  const byClient = clientOf([failed], { retries: 1 })
  await t.rejects(byClient.client.POST('/things', { body }), failed)
  t.equal(byClient.requests.length, 2)
  const byCall = clientOf([{ status: 503 }])
  t.equal((await byCall.client.POST('/things', { body, retries: 0 })).response.status, 503)
  t.equal(byCall.requests.length, 1)
})

t.test('neither a request without a key nor a stream is sent again', async (t) => {
  const { requests, client } = clientOf([failed])
  await t.rejects(client.GET('/things'), failed)
  const stream = new Blob(['a']).stream() as never
  await t.rejects(client.POST('/files', { contentType: 'application/octet-stream', body: stream }), failed)
  t.equal(requests.length, 2)
  const parts = async function* () {
    yield new Uint8Array(1)
  }
  const iterable = { contentType: 'application/octet-stream', body: parts() as never, duplex: 'half' } as const
  await t.rejects(client.POST('/files', iterable), failed, 'a body of Node.js is read only once, too')
  t.equal(requests.length, 3)
})

t.test('a signal ends the wait for the next attempt', async (t) => {
  const { requests, client } = clientOf([{ status: 503, retryAfter: '30' }])
  const stop = new AbortController()
  const call = client.POST('/things', { body, signal: stop.signal })
  setTimeout(() => stop.abort(), 20)
  await t.rejects(call, { name: 'AbortError' })
  t.equal(requests.length, 1)
})

t.test('a call with a signal is repeated until the signal aborts', async (t) => {
  const repeated = clientOf([failed, { status: 201 }])
  const { signal } = new AbortController()
  t.equal((await repeated.client.POST('/things', { body, signal })).status, 201)
  t.equal(repeated.requests.length, 2)
  const aborted = clientOf([failed])
  await t.rejects(aborted.client.POST('/things', { body, signal: AbortSignal.abort() }))
  t.equal(aborted.requests.length, 1)
})
