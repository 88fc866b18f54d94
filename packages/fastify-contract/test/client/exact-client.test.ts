import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { int64Responses } from 'fastify-contract-cli/testing'
import t, { type Test } from 'tap'
import { type ClientOptions, exactClient } from '../../src/client/exact-client.ts'

const int64 = { type: 'integer', format: 'int64' }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const tree = { $ref: '#/components/schemas/Tree' }
const error = json({ type: 'object', properties: { error: { type: 'integer' }, id: int64 } })

const table = int64Responses({
  openapi: '3.1.0',
  info: { title: 'Trees', version: '1.0.0' },
  paths: {
    '/trees/{id}': {
      get: { responses: { 200: json(tree), '4XX': error, default: json({ type: 'object' }) } },
      head: { responses: { 200: json(tree) } },
    },
    '/counts': { get: { responses: { 200: json(int64) } } },
  },
  components: {
    schemas: {
      Tree: {
        type: 'object',
        properties: {
          id: int64,
          age: { type: 'integer', format: 'int32' },
          height: { type: 'number' },
          children: { type: 'array', items: tree },
          counts: { type: 'object', additionalProperties: int64 },
        },
      },
    },
  },
})

type Tree = { id: bigint; age?: number; height?: number; children?: Tree[]; counts?: Record<string, bigint> }
type Reply<Body> = { headers: Record<string, unknown>; content: { 'application/json': Body } }
type TreeParameters = { path: { id: bigint }; query?: { after?: bigint } }
type Failure = { error: number; id?: bigint }
type Filter = {
  query?: { tag?: string[]; 'a&b'?: string }
  header: { 'X-Trace': number; 'X-Other'?: string }
  path?: never
  cookie: { session: string }
}

type Paths = {
  '/trees/{id}': {
    get: { parameters: TreeParameters; responses: { 200: Reply<Tree>; '4XX': Reply<Failure>; default: Reply<object> } }
    head: { parameters: TreeParameters; responses: { 200: Reply<Tree> } }
  }
  '/counts': {
    get: { parameters: { query?: never; path?: never }; requestBody?: never; responses: { 200: Reply<bigint> } }
    put?: never
    post: { requestBody?: { content: { 'application/json': bigint[] } }; responses: { 204: { content?: never } } }
    patch: {
      parameters: Filter
      requestBody: { content: { 'application/json': string } }
      responses: { default: Reply<string> }
    }
  }
}

type Answer = { status?: number; type?: string; body?: string }

/** Starts a server that always sends one response. Returns a client of it and the requests that it received. */
async function serve(t: Test, { status = 200, type = 'application/json', body = '' }: Answer, options?: ClientOptions) {
  const requests: string[] = []
  const server = createServer(({ method, url, headers }, response) => {
    requests.push(`${method} ${url} ${headers.authorization}`)
    response.writeHead(status, { 'content-type': type }).end(body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/forest/`
  return { requests, client: exactClient<Paths>(table, { baseUrl, ...options }) }
}

const path = { id: 2n ** 63n - 1n }

t.test('int64 values of a response are bigint, and so are other integers that a double would round', async (t) => {
  const body = `{"id":9223372036854775807,"age":7,"height":1e3,"other":9007199254740993,
    "children":[{"id":-9223372036854775808},{"id":1,"children":[{"id":1.0},{"id":9007199254740993e0}]}],
    "counts":{"a":0,"toString":12,"b":-1}}`
  const { client, requests } = await serve(t, { body })
  const { data, error } = await client.GET('/trees/{id}', { params: { path, query: { after: -(2n ** 63n) } } })
  t.equal(error, undefined)
  t.strictSame(data, {
    id: 2n ** 63n - 1n,
    age: 7,
    height: 1000,
    other: 2n ** 53n + 1n,
    children: [{ id: -(2n ** 63n) }, { id: 1n, children: [{ id: 1n }, { id: 2n ** 53n + 1n }] }],
    counts: { a: 0n, toString: 12n, b: -1n },
  } as Tree)
  t.same(requests, ['GET /forest/trees/9223372036854775807?after=-9223372036854775808 undefined'])
  const counts = await serve(t, { body: '9007199254740993' })
  t.equal((await counts.client.GET('/counts')).data, 2n ** 53n + 1n)
})

t.test('responses are typed by status, status range or default', async (t) => {
  const body = '{"error":40400,"id":9007199254740993}'
  const missing = await serve(t, { status: 404, body })
  const found = await missing.client.GET('/trees/{id}', { params: { path } })
  t.strictSame(found.error, { error: 40400, id: 2n ** 53n + 1n })
  const broken = await serve(t, { status: 500, body })
  t.strictSame((await broken.client.GET('/trees/{id}', { params: { path } })).error, {
    error: 40400,
    id: 2n ** 53n + 1n,
  })
})

t.test('values that are not integers, not JSON or missing are returned unchanged', async (t) => {
  const odd = await serve(t, { body: '{"id":1.5,"children":null,"counts":{"a":1e300,"b":"1"}}' })
  const { data } = await odd.client.GET('/trees/{id}', { params: { path } })
  t.strictSame(data as unknown, { id: 1.5, children: null, counts: { a: 1e300, b: '1' } })
  const proxy = await serve(t, { status: 403, type: 'text/html', body: '<p>no</p>' })
  t.equal((await proxy.client.GET('/trees/{id}', { params: { path } })).error, '<p>no</p>')
  const head = await serve(t, {})
  t.same((await head.client.HEAD('/trees/{id}', { params: { path } })).data, undefined)
  const empty = await serve(t, { status: 502 })
  t.equal((await empty.client.GET('/trees/{id}', { params: { path } })).error, undefined)
  const page = await serve(t, { type: 'text/html', body: '<p>welcome</p>' })
  await t.rejects(page.client.GET('/trees/{id}', { params: { path } }), 'no reply of success is HTML')
})

t.test('an integer of a response without int64 is exact, or rejects the call', async (t) => {
  const body = '{"a":[12345678901234567890,12345678901234567000,1.5,0.1234567890123456789],"text":"1234567890123456"}'
  const { client } = await serve(t, { status: 500, body })
  const { error } = await client.GET('/trees/{id}', { params: { path } })
  t.strictSame(error as unknown, {
    a: [12345678901234567890n, 12345678901234567000, 1.5, 0.12345678901234568],
    text: '1234567890123456',
  })
  for (const [text, place] of [
    ['{"a":[1e400]}', '/a/0'],
    ['1'.repeat(21), '/'],
  ]) {
    const large = await serve(t, { status: 200, body: text as string })
    await t.rejects(large.client.GET('/trees/{id}', { params: { path } }), {
      message: `the response has a number that cannot be exact, at ${place}`,
    })
  }
})

t.test('a response that is not I-JSON rejects the call', async (t) => {
  const { client } = await serve(t, { body: '{"id":1,"id":2}' })
  await t.rejects(client.GET('/trees/{id}', { params: { path } }), /the same name twice in one object/)
})

t.test("the caller's fetch sends the requests", async (t) => {
  const sent: string[] = []
  const answers = (name: string) => async (request: Request) => {
    sent.push(`${name} ${request.url} ${request.headers.get('authorization')}`)
    return Response.json({ id: 1 })
  }
  const client = exactClient<Paths>(table, { baseUrl: 'http://a', token: 't', fetch: answers('first') })
  t.strictSame((await client.GET('/trees/{id}', { params: { path: { id: 1n } } })).data, { id: 1n })
  await client.GET('/trees/{id}', { params: { path: { id: 2n } }, fetch: answers('second') })
  t.same(sent, ['first http://a/trees/1 Bearer t', 'second http://a/trees/2 Bearer t'])
})

/** A client whose fetch responds 500 with the request as its text. */
const echo = exactClient<Paths>(table, {
  baseUrl: 'http://a',
  fetch: async (request) => {
    const { method, url, headers, signal } = request
    const sent = [method, url, JSON.stringify(Object.fromEntries(headers)), await request.text(), signal.aborted]
    return new Response(sent.join('\n'), { status: 500 })
  },
})

const sentBy = async (call: Promise<{ error?: unknown }>) => String((await call).error).split('\n')

t.test('parameters and bodies are sent as documented', async (t) => {
  const query = { tag: ['a b', 'c&d', ''], 'a&b': '\u00e4' }
  const header = { 'X-Trace': 7 }
  t.same(await sentBy(echo.PATCH('/counts', { params: { query, header }, body: 'text' })), [
    'PATCH',
    'http://a/counts?tag=a%20b&tag=c%26d&tag=&a%26b=%C3%A4',
    '{"content-type":"application/json","x-trace":"7"}',
    '"text"',
    'false',
  ])
  t.same(await sentBy(echo.POST('/counts')), ['POST', 'http://a/counts', '{}', '', 'false'])
  const headers = { 'content-type': 'application/merge-patch+json', 'x-other': 'b' }
  const unset = { header: { 'X-Trace': 0, 'X-Other': undefined as never }, query: { tag: undefined as never } }
  t.same(
    await sentBy(echo.PATCH('/counts', { params: unset, headers, body: 'a', signal: AbortSignal.abort() })),
    ['PATCH', 'http://a/counts', JSON.stringify({ ...headers, 'x-trace': '0' }), '"a"', 'true'],
    'further options are passed to fetch',
  )
})

t.test('the options of a client apply to each call, which may have others', async (t) => {
  const sent: Request[] = []
  const client = exactClient<Paths>(table, {
    baseUrl: 'http://a',
    headers: { 'x-app': 'web', 'x-other': 'a' },
    credentials: 'include',
    fetch: async (request) => {
      sent.push(request)
      return Response.json(null)
    },
  })
  await client.GET('/counts')
  await client.GET('/counts', { baseUrl: 'http://b/', credentials: 'omit', headers: { 'X-Other': 'b' } })
  t.same(
    sent.map(({ url, credentials, headers }) => ({ url, credentials, ...Object.fromEntries(headers) })),
    [
      { url: 'http://a/counts', credentials: 'include', 'x-app': 'web', 'x-other': 'a' },
      { url: 'http://b/counts', credentials: 'omit', 'x-app': 'web', 'x-other': 'b' },
    ],
  )
})

t.test('a 2xx is text, bytes or a stream with parseAs, and an error stays JSON', async (t) => {
  const { client } = await serve(t, { type: 'text/html', body: '<p>welcome</p>' })
  const text = await client.GET('/counts', { parseAs: 'text' })
  const blob = await client.GET('/counts', { parseAs: 'blob' })
  const bytes = await client.GET('/counts', { parseAs: 'arrayBuffer' })
  const stream = await client.GET('/counts', { parseAs: 'stream' })
  const all: [string, Blob, ArrayBuffer, ReadableStream<Uint8Array>] = [text.data, blob.data, bytes.data, stream.data]
  const read = await Promise.all(all.map((body) => new Response(body).text()))
  t.same([blob.data.type, ...read], ['text/html', ...Array(4).fill('<p>welcome</p>')])
  const { client: empty } = await serve(t, { status: 204 })
  const none: undefined = (await empty.POST('/counts', { parseAs: 'text' })).data
  t.equal(none, undefined)
  const { client: failing } = await serve(t, { status: 404, body: '{"error":1,"id":9007199254740993}' })
  const { error } = await failing.GET('/trees/{id}', { params: { path }, parseAs: 'stream' })
  t.strictSame(error, { error: 1, id: 2n ** 53n + 1n })
})

t.test('a QUERY and its body follow a redirect, and a 303 leads to a GET', async (t) => {
  type Query = { requestBody: { content: { 'application/json': bigint } }; responses: { 200: Reply<bigint> } }
  const seen: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url = '', headers } = request
    seen.push(`${method} ${url} ${headers['content-type']} ${Buffer.concat(chunks)}`)
    const status = Number(url.slice(1))
    if (status === 200) response.writeHead(200, { 'content-type': 'application/json' }).end('9007199254740993')
    else response.writeHead(status, { location: '/200' }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = exactClient<Record<`/${number}`, { query: Query }>>({}, { baseUrl })
  for (const status of [301, 302, 303, 307, 308]) {
    seen.length = 0
    const { data } = await client.QUERY(`/${status}`, { body: 7n })
    t.equal(data, 2n ** 53n + 1n)
    // RFC 10008 section 2.5: unlike a POST, a QUERY stays a QUERY after a 301 or 302.
    const target = status === 303 ? 'GET /200 undefined ' : 'QUERY /200 application/json 7'
    t.same(seen, [`QUERY /${status} application/json 7`, target], `status ${status}`)
  }
})

t.test('a value that cannot be sent rejects the call with its location', async (t) => {
  const parameters = { 'PATCH /counts': { query: { tag: { style: 'pipeDelimited' } } } }
  const client = exactClient<Paths>({ ...table, parameters }, { baseUrl: 'http://a' })
  const params = { query: { tag: ['a|b'] }, header: { 'X-Trace': 1 } }
  await t.rejects(client.PATCH('/counts', { params, body: 'a' }), {
    name: 'TypeError',
    message: 'query/tag: its parts cannot contain "|"',
  })
})

t.test('a path parameter cannot change the path', async (t) => {
  const get = (id: unknown) => sentBy(echo.GET('/trees/{id}', { params: { path: { id: id as never } } }))
  const message = '/trees/{id}: a path segment cannot be "." or ".."'
  for (const id of ['.', '..']) await t.rejects(get(id), { message })
  t.equal((await get('../../..'))[1], 'http://a/trees/..%2F..%2F..')
  t.equal((await get('?a#b%'))[1], 'http://a/trees/%3Fa%23b%25')
  t.equal((await get('...'))[1], 'http://a/trees/...')
  await t.rejects(get('a\ud800'), { name: 'TypeError', message: 'path/id: cannot contain a lone surrogate' })
})

t.test('every call and response is typed', async (t) => {
  const { client } = await serve(t, { body: '{"id":1}' })
  const outcome = await client.GET('/trees/{id}', { params: { path } })
  if (outcome.status === 200) {
    const tree: Tree = outcome.data
    t.same(tree, { id: 1n })
    // @ts-expect-error there is no error
    outcome.error?.error
  } else if (outcome.status === 404) {
    const failure: Failure = outcome.error
    // @ts-expect-error there is no data
    outcome.data?.id
    t.fail(failure)
  } else {
    const status: 400 | 302 | 500 | typeof outcome.status = outcome.status
    // @ts-expect-error the document does not list this status
    const listed: 200 = outcome.status
    t.fail({ status, listed })
  }
  const { data, error } = outcome
  if (error) throw new Error('there is an error')
  t.equal(data.id, 1n)

  const all = async () => {
    const only = await echo.PATCH('/counts', { params: { header: { 'X-Trace': 1 } }, body: 'a' })
    const either: string = only.error ?? only.data
    const none: undefined = (await echo.POST('/counts', { body: [1n] })).data
    // @ts-expect-error a parameter is missing
    await echo.GET('/trees/{id}')
    // @ts-expect-error a parameter has another type
    await echo.GET('/trees/{id}', { params: { path: { id: 1 } } })
    // @ts-expect-error there is no such parameter
    await echo.GET('/trees/{id}', { params: { path, query: { before: 1n } } })
    // @ts-expect-error the body is missing
    await echo.PATCH('/counts', { params: { header: { 'X-Trace': 1 } } })
    // @ts-expect-error this operation has no body
    await echo.GET('/counts', { body: 1n })
    // @ts-expect-error this path has no such method
    await echo.PUT('/counts')
    // @ts-expect-error there is no such path
    await echo.GET('/count')
    return [either, none]
  }
  t.type(all, 'function', 'the function is only compiled, never run')
})
