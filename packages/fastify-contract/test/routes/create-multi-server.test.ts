import { setTimeout as sleep } from 'node:timers/promises'
import compress from '@fastify/compress'
import helmet from '@fastify/helmet'
import swagger from '@fastify/swagger'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import openapiGlue from 'fastify-openapi-glue'
import { pino } from 'pino'
import t from 'tap'
import type { RequestContext } from '../../src/http/request-context.ts'
import { createMultiServer } from '../../src/routes/create-multi-server.ts'
import { operationResolver } from '../../src/routes/operation-resolver.ts'
import { compileRoutes } from '../support/serve-document.ts'
import {
  apiOf,
  firstErrors,
  firstVersion,
  portOf,
  type Seen,
  secondErrors,
  secondVersion,
  versionsServer,
} from '../support/versions.ts'

const typed = { 'content-type': 'application/json' }
const problem = /^application\/problem\+json/

t.test('each document is served below its prefix, with its own handlers, schemas and security', async (t) => {
  const app = versionsServer(t)
  t.same((await app.inject('/v1/pets/7')).json(), { id: 7, name: '1.4.0' })
  t.same((await app.inject('/%761/pets/7')).json(), { id: 7, name: '1.4.0' }, 'an encoded prefix is the same')
  t.same((await app.inject('/v2/pets/7')).json(), { id: 7, names: ['2.0.0'] }, 'the path of the server is not repeated')
  t.equal((await app.inject('/v2/v2/pets/7')).statusCode, 404)
  const post = (url: string, payload: object, headers: object = {}) =>
    app.inject({ method: 'POST', url, payload, headers: { ...typed, ...headers } })
  const first = await post('/v1/pets', { id: 1, name: 5 }, { authorization: 'Bearer good' })
  t.match(first, { statusCode: 400, body: '{"error":40003,"message":"body/name must be string"}' })
  t.equal(
    (await post('/v1/pets?key=good', { id: 1 })).statusCode,
    401,
    'the scheme of the other document does not apply',
  )
  t.equal((await post('/v2/pets', { id: 1 }, { authorization: 'Bearer good' })).statusCode, 401)
  const second = await post('/v2/pets?key=good', { id: 1, name: 5, names: ['a'] })
  t.same([second.statusCode, second.body], [201, '{"id":1,"names":["a"]}'])
  t.equal(second.headers.location, '/v2/pets/1')
  t.equal((await post('/v1/pets', { id: 1 }, { authorization: 'Bearer good' })).headers.location, '/v1/pets/1')
})

t.test('an error below a prefix has the error body of its document', async (t) => {
  const app = versionsServer(t)
  const found = async (url: string, method = 'GET') => {
    const { statusCode, headers, body } = await app.inject({ method: method as 'GET', url })
    return [statusCode, headers['content-type'], JSON.parse(body), headers.allow]
  }
  const json = 'application/json; charset=utf-8'
  for (const url of ['/v1', '/v1/', '/v1/none', '/v1?a=1', '/v1/pets/'])
    t.match(await found(url), [404, json, { error: 40400 }, undefined], url)
  for (const url of ['/v2', '/v2/', '/v2/none', '/v2/pets/7:feed/x', '/%762/none'])
    t.match(await found(url), [404, problem, { status: 404, type: 'noSuchPath' }, undefined], url)
  t.match(await found('/v1/pets/7', 'DELETE'), [405, json, { error: 40500 }, 'GET, HEAD'])
  t.match(await found('/v2/pets/7', 'PUT'), [405, problem, { status: 405 }, 'GET, HEAD, DELETE'])
  t.match(await found('/v2/pets/7', 'OPTIONS'), [405, problem, { status: 405 }, 'GET, HEAD, DELETE'])
  t.match(await found('/v2/pets/7', 'PROPFIND'), [405, problem, { status: 405 }, 'GET, HEAD, DELETE'])
  t.match(await found('/v1/pets/x'), [400, json, { error: 40003 }, undefined])
  t.match(await found('/v2/fails'), [500, problem, { status: 500, operation: 'fail' }, undefined])
  t.match(await found('/v1/%zz'), [400, json, { error: 40001 }, undefined])
  t.match(await found('/v2/%zz'), [400, problem, { status: 400, type: 'undecodableTarget' }, undefined])
  for (const url of ['/', '/v', '/v3/pets', '/v11', '//v2/pets', '/V2/pets/7', '/%zz'])
    t.match(await found(url), [url === '/%zz' ? 400 : 404, json, { error: /^400/ }, undefined].slice(0, 2), url)
})

t.test('the option errors names the error body for what is below no prefix, and for the HTTP parser', async (t) => {
  for (const [errors, expected, other] of [
    ['/v1', /"error":/, /"type":/],
    ['/v2', /"type":/, /"error":/],
  ] as const) {
    const app = versionsServer(t, { errors, limits: { headersTime: 1_000, requestTime: 1_000 } })
    const port = await portOf(app)
    const answer = async (bytes: string) =>
      (await (await openSocket(t, port, bytes)).closed(10_000)).replace(/^.*?\r\n\r\n/s, '')
    t.match(await answer('GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'), expected)
    t.match(await answer('GET /v1 nonsense\r\n\r\n'), expected, 'malformed')
    t.match(await answer('GET /v1/pets/7 HTTP/1.1\r\nHost: a\r\n'), expected, 'the head is too slow')
    t.match(await answer('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'), expected, 'CONNECT')
    const [own, notOwn] = errors === '/v1' ? [other, expected] : [expected, other]
    const post = `POST /v2/pets?key=good HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
    const slow = await answer(`${post}Content-Length: 9\r\n\r\n{`)
    t.match(slow, own, 'a body that is too slow belongs to its document')
    t.notMatch(slow, notOwn)
    t.match(await answer(`${post}Transfer-Encoding: chunked\r\n\r\nno size\r\n`), own, 'so does a malformed one')
    const large = `GET /v2/pets/7 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nA: ${' '.repeat(20_000)}a\r\n\r\n`
    t.match(await answer(large), own, 'a large head that is complete belongs to it, too')
    await app.close()
  }
})

t.test('selectors, QUERY and text beside a parameter work below a prefix', async (t) => {
  const app = versionsServer(t)
  const get = async (url: string) => {
    const { statusCode, body } = await app.inject(url)
    return [statusCode, JSON.parse(body)]
  }
  t.same(await get('/v1/calls?kind=one'), [200, ['one', { kind: 'one' }]])
  t.same(await get('/v1/calls?kind=two'), [200, ['two', { kind: 'two' }]])
  t.same(await get('/%761/calls?kind=two'), [200, ['two', { kind: 'two' }]])
  t.match(await get('/v1/calls?kind=none'), [400, { error: 40003 }])
  t.match(await get('/v2/calls?kind=one'), [404, { status: 404 }])
  t.match(await get('/calls?kind=one'), [404, { error: 40400 }])
  t.match(await get('/v1/calls/%zz'), [400, { error: 40001 }])
  const search = await app.inject({ method: 'QUERY' as 'POST', url: '/v1/search', headers: typed, payload: '[1]' })
  t.match(search, { statusCode: 200, body: '[1]', headers: { 'accept-query': /application\/json/ } })
  t.match(await app.inject('/v1/search'), { statusCode: 405, headers: { allow: 'QUERY', 'accept-query': /json/ } })
  t.equal((await app.inject('/v1/calls?kind=one')).headers['accept-query'], undefined)
  t.same((await app.inject({ method: 'POST', url: '/v1/pets/7:feed' })).json(), { id: 7 })
  t.equal((await app.inject({ method: 'POST', url: '/v1/pets/7%3Afeed' })).statusCode, 405)
  t.match(await app.inject({ method: 'HEAD', url: '/v2/pets/7' }), { statusCode: 200, body: '' })
})

t.test('pages of other origins may use the methods and headers of all documents, on every path', async (t) => {
  const app = versionsServer(t, { origins: ['https://page.example'] })
  const port = await portOf(app)
  const headers = { origin: 'https://page.example', 'access-control-request-method': 'DELETE' }
  for (const url of ['/v1/pets/7', '/v2/pets/7', '/none']) {
    const preflight = await app.inject({ method: 'OPTIONS', url, headers })
    t.match(preflight, { statusCode: 204, headers: { 'access-control-allow-methods': /DELETE.*QUERY/ } }, url)
    t.match(preflight.headers['access-control-allow-headers'], /Idempotency-Key.*X-Reason/)
    const read = await fetch(`http://127.0.0.1:${port}${url}`, { headers: { origin: headers.origin } })
    t.match(Object.fromEntries(read.headers), { 'access-control-allow-origin': 'https://page.example', vary: 'Origin' })
  }
})

t.test('one key is that of each document, also in one store', async (t) => {
  const seen: Seen = { created: [], waiting: [] }
  const { memoryKeys } = await import('../../src/idempotency/memory-keys.ts')
  const idempotency = { store: memoryKeys() }
  const first = { ...apiOf(firstVersion, firstErrors, seen), idempotency }
  const app = versionsServer(t, { seen, contracts: { '/v1': first, '/v2': first } })
  const create = async (url: string) => {
    const headers = { ...typed, authorization: 'Bearer good', 'idempotency-key': 'k' }
    const { statusCode, headers: sent } = await app.inject({ method: 'POST', url, headers, payload: '{"id":1}' })
    return [statusCode, sent['idempotent-replayed']]
  }
  t.same(await create('/v1/pets'), [201, undefined])
  t.same(await create('/v2/pets'), [201, undefined])
  t.same(await create('/v1/pets'), [201, 'true'])
  t.same(await create('/v2/pets'), [201, 'true'])
  t.equal(seen.created.length, 2)
})

t.test('the limits of handlers, requests and failures are common to all documents', async (t) => {
  const seen: Seen = { created: [], waiting: [] }
  const shed: string[] = []
  const limits = { inFlight: 1, requests: 2, authFailures: 2 }
  const app = versionsServer(t, { seen, limits, shed: (reason) => void shed.push(reason) })
  const waiting = app.inject('/v1/slow')
  await until(() => seen.waiting.length === 1, 'the handler runs')
  t.match(await app.inject('/v2/pets/7'), { statusCode: 503, headers: { 'retry-after': /./, 'content-type': problem } })
  t.equal((await app.inject('/none')).statusCode, 503, 'also outside of the prefixes')
  t.same(shed, ['in_flight', 'in_flight'])
  seen.waiting[0]?.()
  t.equal((await waiting).statusCode, 200)
  const create = async (url: string, authorization = 'Bearer good') =>
    (await app.inject({ method: 'POST', url, headers: { ...typed, authorization }, payload: '{"id":1}' })).statusCode
  t.equal(await create('/v1/pets'), 201)
  t.equal(await create('/v2/pets?key=good'), 201)
  t.equal(await create('/v2/pets?key=good'), 429, 'the client of both documents is one')
  t.equal(await create('/v1/pets', 'Bearer bad'), 401)
  t.equal(await create('/v2/pets?key=bad'), 401)
  t.equal(await create('/v1/pets', 'Bearer bad'), 429, 'so is the address')
})

t.test('the observer and the log name the API, and errors outside of all have none', async (t) => {
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) })
  const contexts: RequestContext[] = []
  const observer = { begin() {}, end: (context: RequestContext) => void contexts.push(context) }
  const app = versionsServer(t, { log, observer, contracts: { '/v2': { errorBody: () => ({}) as never } } })
  const port = await portOf(app)
  for (const path of ['/v1/pets/7', '/v2/none', '/v2/%zz', '/none', '/v2/fails'])
    await fetch(`http://127.0.0.1:${port}${path}`).then((response) => response.arrayBuffer())
  await until(() => contexts.length === 5, 'all requests have ended')
  t.same(
    contexts.map(({ api, operation, status }) => [api, operation, status]),
    [
      ['/v1', 'getPet', 200],
      ['/v2', undefined, 404],
      ['/v2', undefined, 400],
      [undefined, undefined, 404],
      ['/v2', 'fail', 500],
    ],
  )
  const logged = lines.map((line) => JSON.parse(line))
  t.match(
    logged.filter(({ msg }) => msg === 'request failed'),
    [{ api: '/v2', err: { message: 'failed' } }],
  )
  t.match(
    logged.filter(({ msg }) => msg === 'errorBody failed').map(({ api }) => api),
    ['/v2', '/v2', '/v2'],
  )
  t.match(
    logged.filter(({ msg }) => /idempotency keys/.test(msg)).map(({ api }) => api),
    ['/v1', '/v2'],
  )
})

t.test('one document below a prefix is not named in the log', async (t) => {
  const seen: Seen = { created: [], waiting: [] }
  const contexts: RequestContext[] = []
  const lines: string[] = []
  const app = createMultiServer<{ '/v1': unknown }>({
    contracts: { '/v1': apiOf(firstVersion, firstErrors, seen) as never },
    errors: '/v1',
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    observer: { begin() {}, end: (context) => void contexts.push(context) },
  })
  t.teardown(() => app.close())
  const port = await portOf(app)
  t.equal((await fetch(`http://127.0.0.1:${port}/v1/pets/7`)).status, 200)
  t.match(await (await fetch(`http://127.0.0.1:${port}/v1/%zz`)).json(), { error: 40001 })
  t.match(await (await fetch(`http://127.0.0.1:${port}/none`)).json(), { error: 40400 })
  await until(() => contexts.length === 3, 'all requests have ended')
  t.notOk(contexts.some((context) => 'api' in context))
  t.notMatch(lines.join(''), /"api"/)
})

t.test('plugins and hooks of the application apply to all documents, those of a document to its own', async (t) => {
  const order: string[] = []
  const app = versionsServer(t, {
    contracts: {
      '/v1': { plugins: (instance) => void instance.register(compress, { threshold: 1 }) },
      '/v2': { plugins: (instance) => void instance.addHook('onRequest', async () => void order.push('second')) },
    },
  })
  app.register(helmet)
  app.register(swagger, {
    openapi: {
      info: { title: 'All', version: '1' },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          key: { type: 'apiKey', in: 'query', name: 'key' },
        },
      },
    },
  })
  app.addHook('onRequest', async ({ id }) => void order.push(`all ${typeof id}`))
  app.get('/health', async () => ({ ok: true }))
  app.post('/own', async ({ body }) => body)
  const headers = { 'accept-encoding': 'gzip' }
  const first = await app.inject({ url: '/v1/pets/7', headers })
  t.match(first.headers, { 'content-encoding': 'gzip', 'x-frame-options': /./, 'x-request-id': /./ })
  t.same(order.splice(0), ['all string'])
  const second = await app.inject({ url: '/v2/pets/7', headers })
  t.equal(second.headers['content-encoding'], undefined)
  t.match(second.headers, { 'x-frame-options': /./ })
  t.same(order.splice(0).sort(), ['all string', 'second'])
  t.equal((await app.inject('/v2/none')).statusCode, 404)
  t.same(order, [], 'as with createServer, a request that is rejected first does not reach them')
  t.match(await app.inject('/health'), { statusCode: 200, headers: { 'x-request-id': /./ } })
  t.same((await app.inject({ method: 'POST', url: '/own', payload: { a: 1 } })).json(), { a: 1 })
  t.match(await app.inject({ url: '/health', headers: { expect: 'nothing' } }), { statusCode: 417 })
})

t.test('shutdown finishes the requests in flight of both documents, and ends their streams', async (t) => {
  const seen: Seen = { created: [], waiting: [] }
  const app = versionsServer(t, { seen })
  const port = await portOf(app)
  const request = (path: string) => openSocket(t, port, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
  const [first, second, events, idle] = await Promise.all([
    request('/v1/slow'),
    request('/v2/slow'),
    request('/v1/events'),
    openSocket(t, port),
  ])
  await until(() => seen.waiting.length === 2, 'both handlers run')
  await events.receives(/data: 1/)
  const closed = app.close()
  await Promise.all([events.closed(), idle.closed()])
  await sleep(50)
  t.notOk(first.isClosed() || second.isClosed())
  for (const resolve of seen.waiting) resolve()
  t.match(await first.closed(), /^HTTP\/1.1 200 .*connection: close.*"1\.4\.0"$/is)
  t.match(await second.closed(), /^HTTP\/1.1 200 .*connection: close.*"2\.0\.0"$/is)
  await closed
})

t.test('a GET with a body in one document leaves the other one as it was', async (t) => {
  const seen: Seen = { created: [], waiting: [] }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Search', version: '1' },
    paths: {
      '/find': {
        get: {
          operationId: 'search',
          requestBody: { content: { 'application/json': { schema: {} } } },
          responses: { 200: { description: 'ok', content: { 'application/json': {} } } },
        },
      },
    },
  } as never
  const app = versionsServer(t, { contracts: { '/v1': apiOf(document, firstErrors, seen) } })
  t.same((await app.inject({ url: '/v1/find', headers: typed, payload: '[1]' } as never)).json(), [1])
  t.match(await app.inject({ url: '/v2/pets/7', headers: typed, payload: '[1' } as never), { statusCode: 200 })
})

t.test('wrong prefixes, a wrong option errors and missing handlers stop the start with one clear line', async (t) => {
  const seen: Seen = { created: [], waiting: [] }
  const api = () => apiOf(firstVersion, firstErrors, seen) as never
  const start = (prefixes: string[], errors = prefixes[0]) =>
    createMultiServer<Record<string, unknown>>({
      contracts: Object.fromEntries(prefixes.map((prefix) => [prefix, api()])),
      errors: errors as string,
    })
  for (const prefix of ['', '/', 'v1', '/v1/', '/:tenant', '/v*', '/v%31', '/a//b', '/v1?', '/..', '/a/./b', '/ä'])
    t.throws(() => start([prefix]), { message: /^contracts: "[^\n]*" is not a prefix of paths; use [^\n]*$/ }, prefix)
  t.throws(() => start(['/api/v1', '/api']), { message: /^contracts: the prefix "\/api" contains "\/api\/v1"; use/ })
  t.throws(() => start([]), { message: /^contracts has no entry; add one/ })
  t.throws(() => start(['/v1', '/v2'], '/v3'), {
    message: 'errors is "/v3"; expected the prefix of a contract: /v1, /v2',
  })
  t.throws(
    () =>
      versionsServer(t, {
        contracts: { '/v2': { handlers: { other: async () => ({ status: 204, body: undefined }) } } },
      }),
    {
      message:
        /^the document of \/v2 and its handlers do not match\n {2}operation createPet has no handler[\s\S]*\n {2}handler other has no operation in the document; remove it/,
    },
  )
  const app = start(['/api', '/api2', '/api.v1/x'])
  t.teardown(() => app.close())
  t.equal((await app.inject('/api.v1/x/pets/7')).statusCode, 200)
  t.equal((await app.inject('/apiXv1/x/pets/7')).statusCode, 404)
  t.equal((await app.inject('/%zz')).statusCode, 400)
})

t.test('fastify-openapi-glue registers the operations of a document below its prefix', async (t) => {
  const specification = { ...secondVersion, servers: [] }
  const app = versionsServer(t, {
    contracts: {
      '/v2': {
        plugins: (instance) =>
          void instance.register(openapiGlue, { specification, operationResolver: operationResolver(instance) }),
      },
    },
  })
  t.same((await app.inject('/v2/pets/7')).json(), { id: 7, names: ['2.0.0'] })
  t.equal((await app.inject('/v2/v2/pets/7')).statusCode, 404)
})

t.test('a document has no other paths if all begin with the prefix, and both otherwise', async (t) => {
  const seen: Seen = { created: [], waiting: [] }
  const servers = [{ url: 'https://pets.example/v2' }, { url: '/' }]
  const both = apiOf({ ...secondVersion, servers } as never, secondErrors, seen)
  const app = versionsServer(t, { contracts: { '/v2': both } })
  for (const url of ['/v2/pets/7', '/v2/v2/pets/7']) t.equal((await app.inject(url)).statusCode, 200, url)
  const skipped = [{ method: 'GET', servedPaths: [{ path: '/v2/later', url: '/v2/later', pattern: '^/v2/later$' }] }]
  const own = apiOf(secondVersion, secondErrors, seen)
  const routes = { ...compileRoutes(secondVersion), skipped } as never
  const other = versionsServer(t, { contracts: { '/v2': { ...own, contract: { routes } } } })
  t.equal((await other.inject('/v2/later')).statusCode, 501)
  t.match(await other.inject({ method: 'PUT', url: '/v2/later' }), { statusCode: 405, headers: { allow: 'GET, HEAD' } })
})
