import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type ClientOptions, exactClient } from '../../src/client/exact-client.ts'

type Reply<Body> = { headers: Record<string, unknown>; content: { 'application/json': Body } }
type Failure = { error: number }
type Things = {
  200: Reply<{ id: number }>
  204: { headers: Record<string, unknown>; content?: never }
  429: Reply<Failure>
  default: Reply<Failure>
}
type Upload = { requestBody: { content: { 'application/octet-stream': string } }; responses: Things }
type Paths = {
  '/things': {
    get: { responses: Things }
    head: { responses: Things }
    post: Upload & { kinds: { 'application/octet-stream': 'bytes' } }
  }
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** Starts a server with one answer. Returns a client of it, and its base URL. */
async function serve(t: Test, answer: Answer, options: Partial<ClientOptions> = {}) {
  const server = createServer((request, response) => answer(response, request))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { baseUrl, client: exactClient<Paths>({}, { baseUrl, ...options }) }
}

const json = { 'content-type': 'application/json' }

for (const [status, headers] of Object.entries({
  429: { 'retry-after': '7' },
  431: {},
  503: { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' },
}))
  t.test(`a ${status} is an error with its headers, and is not sent again`, async (t) => {
    let count = 0
    const { client } = await serve(t, (response) => {
      count++
      response.writeHead(Number(status), { ...json, ...headers }).end('{"error":1}')
    })
    const outcome = await client.GET('/things')
    t.match(outcome, { status: Number(status), data: undefined, error: { error: 1 } })
    t.hasProps(Object.fromEntries(outcome.response.headers), Object.keys(headers))
    if (outcome.status === 429) {
      const failure: Failure = outcome.error
      t.equal(failure.error, 1)
    }
    t.equal(count, 1)
  })

t.test('a response that breaks rejects the call, whatever its status', async (t) => {
  for (const status of [200, 500]) {
    for (const framing of [{ 'content-length': 9 }, {}]) {
      const { client } = await serve(t, (response) => {
        response.writeHead(status, { ...json, ...framing })
        response.write('{"id":1}', () => response.destroy())
      })
      await t.rejects(client.GET('/things'), { name: 'TypeError', message: 'terminated' })
      await t.rejects(client.GET('/things', { parseAs: 'text' }), { name: 'TypeError', message: 'terminated' })
    }
  }
})

t.test('a connection that closes without a response rejects the call with the cause', async (t) => {
  const { client } = await serve(t, (response) => response.destroy())
  await t.rejects(client.GET('/things'), { name: 'TypeError', message: 'fetch failed', cause: Error })
})

t.test('a HEAD has the status and headers of a GET, and neither data nor error', async (t) => {
  for (const status of [200, 404, 503]) {
    const { client } = await serve(t, (response) => response.writeHead(status, { ...json, 'x-a': 'b' }).end())
    const { data, error, ...outcome } = await client.HEAD('/things')
    const none: undefined = data ?? error
    t.equal(none, undefined)
    t.same([outcome.status, outcome.response.headers.get('x-a')], [status, 'b'])
  }
})

t.test('responses without content have neither data nor error', async (t) => {
  for (const status of [204, 205, 304]) {
    const { client } = await serve(t, (response) => response.writeHead(status).end())
    t.match(await client.GET('/things'), { status, data: undefined, error: undefined })
  }
})

t.test('a redirect is followed without the token to another origin, or returned as an error', async (t) => {
  const seen: (string | undefined)[] = []
  const other = await serve(t, (response, { headers }) => {
    seen.push(headers.authorization)
    response.writeHead(200, json).end('{"id":1}')
  })
  const { client } = await serve(
    t,
    (response) => response.writeHead(307, { location: `${other.baseUrl}/things` }).end(),
    { token: 'secret' },
  )
  t.match(await client.GET('/things'), { status: 200, data: { id: 1 } })
  t.same(seen, [undefined])
  const manual = await client.GET('/things', { redirect: 'manual' })
  t.match(manual, { status: 307, data: undefined, error: undefined })
  t.equal(manual.response.headers.get('location'), `${other.baseUrl}/things`)
  const body = new Blob(['a']).stream() as never
  const upload = client.POST('/things', { contentType: 'application/octet-stream', body })
  await t.rejects(upload, { name: 'TypeError', message: 'fetch failed' }, 'a stream cannot be sent to another URL')
})

t.test('an error that is sent before the upload is read is the result of the call', async (t) => {
  // Reads on, as the service does, and closes the connection afterwards.
  const { client } = await serve(t, (response, request) => {
    response.writeHead(413, { ...json, connection: 'close' }).end('{"error":2}')
    request.resume()
  })
  const bytes = new Uint8Array(8_000_000)
  for (const body of [bytes, new Blob([bytes]), new Blob([bytes]).stream() as ReadableStream<Uint8Array>]) {
    const outcome = await client.POST('/things', { contentType: 'application/octet-stream', body: body as never })
    t.match(outcome, { status: 413, error: { error: 2 } })
  }
})
