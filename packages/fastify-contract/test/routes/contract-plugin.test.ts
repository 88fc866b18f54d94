import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import session from '@fastify/session'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify, { type FastifyError, type FastifyInstance, type InjectOptions } from 'fastify'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { apiKey, bearer } from '../../src/auth/verifiers.ts'
import { type RequestContext, requestContext } from '../../src/http/request-context.ts'
import { contractPlugin, type PluginOptions } from '../../src/routes/contract-plugin.ts'
import { compileRoutes, errorBody } from '../support/serve-document.ts'

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const ok = (schema: object = {}) => ({ 200: { description: 'ok', ...json(schema) } })
const bytes = {
  'application/octet-stream': { schema: { type: 'string', contentMediaType: 'application/octet-stream' } },
}
const pet = { $ref: '#/components/schemas/Pet' }
const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } }

const document = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1.0.0' },
  security: [],
  paths: {
    '/': { get: { operationId: 'getRoot', responses: ok() } },
    '/pets': {
      get: {
        operationId: 'findPets',
        parameters: [
          { name: 'tags', in: 'query', explode: false, schema: { type: 'array', items: { type: 'string' } } },
          { name: 'a-b', in: 'query', schema: { type: 'integer' } },
        ],
        responses: ok(),
      },
      post: {
        operationId: 'addPet',
        security: [{ bearer: [] }],
        requestBody: { required: true, ...json(pet) },
        responses: ok(pet),
      },
    },
    '/pets/{id}': { parameters: [id], get: { operationId: 'getPet', responses: ok() } },
    '/pets/{id}:feed': { parameters: [id], post: { operationId: 'feedPet', responses: ok() } },
    '/key': { get: { operationId: 'readKey', security: [{ key: [] }], responses: ok() } },
    '/stream': {
      get: { operationId: 'readStream', responses: { 200: { description: 'ok', content: bytes } } },
      post: { operationId: 'writeStream', requestBody: { required: true, content: bytes }, responses: ok() },
    },
    '/events': {
      get: {
        operationId: 'readEvents',
        responses: { 200: { description: 'ok', content: { 'text/event-stream': { schema: { type: 'integer' } } } } },
      },
    },
    '/form': {
      post: {
        operationId: 'sendForm',
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: {
                type: 'object',
                properties: { name: { type: 'string' }, file: Object.values(bytes)[0]?.schema },
              },
            },
          },
        },
        responses: ok(),
      },
    },
    '/broken': { get: { operationId: 'breakDown', responses: ok() } },
    '/slow': { get: { operationId: 'dawdle', responses: ok() } },
  },
  components: {
    schemas: {
      Pet: { type: 'object', required: ['id'], properties: { id: { type: 'integer', format: 'int64' }, name: {} } },
    },
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' }, key: { type: 'apiKey', in: 'query', name: 'key' } },
  },
}
const routes = compileRoutes(document as never)

/** What the handlers observe. */
type Seen = { aborted: string[]; contexts: RequestContext[] }

function optionsFor(seen: Seen, others: object = {}): PluginOptions<unknown> {
  const client = { name: 'gardener', scopes: [] }
  const handlers = {
    getRoot: async () => ({ status: 200, body: 'root' }),
    findPets: async ({ query }: { query: object }) => ({ status: 200, body: query }),
    addPet: async ({ body }: { body: object }) => ({ status: 200, body }),
    getPet: async ({ path }: { path: object }) => ({ status: 200, body: path }),
    feedPet: async ({ path }: { path: { id: bigint } }) => ({ status: 200, body: { fed: path.id } }),
    readKey: async (input: { client: object }, request: never) => ({
      status: 200,
      body: [input.client, requestContext(request).operation],
    }),
    async readStream({ signal }: { signal: AbortSignal }) {
      signal.addEventListener('abort', () => seen.aborted.push(String(signal.reason.message)))
      async function* parts() {
        while (!signal.aborted) {
          yield Buffer.alloc(1_000, 'a')
          await sleep(5)
        }
      }
      return { status: 200, body: parts() }
    },
    async writeStream({ body }: { body: AsyncIterable<Buffer> }) {
      let length = 0
      for await (const chunk of body) length += chunk.length
      return { status: 200, body: length }
    },
    async readEvents() {
      async function* events() {
        for (const data of [1, 2]) yield { data }
      }
      return { status: 200, body: events() }
    },
    async sendForm({
      body,
    }: {
      body: AsyncIterable<{ name: string; value?: unknown; stream?: AsyncIterable<Buffer> }>
    }) {
      const parts: unknown[] = []
      for await (const part of body) {
        let length = 0
        for await (const chunk of part.stream ?? []) length += chunk.length
        parts.push([part.name, part.value ?? length])
      }
      return { status: 200, body: parts }
    },
    breakDown: async () => {
      throw new Error('broken')
    },
    dawdle: () => sleep(10_000, undefined, { ref: false }),
  }
  return {
    contract: { routes },
    handlers: handlers as never,
    verifiers: {
      bearer: bearer((token) => (token === 'good' ? client : undefined)),
      key: apiKey({ in: 'query', name: 'key' }, (key) => (key === 'a b' ? client : undefined)),
    },
    errorBody: errorBody as never,
    observer: { begin() {}, end: (context) => void seen.contexts.push(context) },
    ...others,
    limits: {
      eventLoopDelay: 60_000,
      body: 1_000,
      upload: 10_000,
      ...('limits' in others ? (others.limits as object) : {}),
    },
  }
}

/** Creates an application with a logger, plugins, an error handler, parsers and routes of its own. */
async function application(t: Test) {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } } })
  t.teardown(() => app.close())
  app.setErrorHandler((error: FastifyError, _request, reply) =>
    reply.code(error.statusCode ?? 500).send({ own: error.message }),
  )
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ own: 'not found' }))
  await app.register(helmet)
  await app.register(cookie)
  await app.register(session, { secret: 'a secret with at least 32 characters', cookie: { secure: false } })
  const { securitySchemes } = document.components as { securitySchemes: object }
  const openapi = { info: { title: 'All', version: '1' }, components: { securitySchemes } }
  await app.register(swagger, { openapi: openapi as never })
  await app.register(swaggerUi, { routePrefix: '/documentation' })
  app.addHook('preHandler', async (request) => {
    const { session } = request as unknown as { session: { set(name: string, value: string): void } }
    session.set('seen', request.url)
  })
  app.post('/own', async ({ body, query }) => ({ body, query }))
  app.get('/own/fails', async () => {
    throw new Error('failed')
  })
  return { app, lines }
}

const send = async (app: FastifyInstance, method: string, url: string, given: InjectOptions = {}) => {
  const { statusCode, payload } = await app.inject({ method: method as 'GET', url, ...given })
  return [statusCode, /^[[{"\d]/.test(payload) ? JSON.parse(payload) : payload]
}

const typed = { 'content-type': 'application/json' }
const good = { authorization: 'Bearer good', ...typed }

t.test('a contract is served under a prefix of an application', async (t) => {
  const { app, lines } = await application(t)
  const seen: Seen = { aborted: [], contexts: [] }
  app.register(contractPlugin, { ...optionsFor(seen), prefix: '/api' })
  await app.ready()

  t.same(await send(app, 'GET', '/api/'), [200, 'root'])
  t.same(await send(app, 'GET', '/api/pets?tags=a%2Cb,c&a-b=7'), [200, { tags: ['a,b', 'c'], 'a-b': 7 }])
  t.match(await send(app, 'GET', '/api/pets?a-b=x'), [400, { error: 40003 }])
  const exact = '{"id":9007199254740993}'
  const added = await app.inject({ method: 'POST', url: '/api/pets', headers: good, payload: exact })
  t.equal(added.payload, exact)
  t.match(added.headers, { 'x-request-id': /./, 'x-frame-options': /./, 'set-cookie': /^sessionId=/ })
  t.match(await send(app, 'POST', '/api/pets', { headers: typed, payload: '{' }), [401, { error: 40100 }])
  t.match(await send(app, 'POST', '/api/pets', { headers: good, payload: '{' }), [400, { error: 40002 }])
  t.match(await send(app, 'POST', '/api/pets', { headers: good, payload: ' '.repeat(1_001) }), [413, { error: 41300 }])
  const text = { ...good, 'content-type': 'text/plain' }
  t.match(await send(app, 'POST', '/api/pets', { headers: text, payload: 'a' }), [415, { error: 41500 }])
  t.same(await send(app, 'GET', '/api/pets/7'), [200, { id: 7 }])
  t.same(await send(app, 'POST', '/api/pets/7:feed'), [200, { fed: 7 }])
  t.match(await send(app, 'POST', '/api/pets/7%3Afeed'), [405, { error: 40500 }])
  t.same(await send(app, 'GET', '/api/key?key=a+b'), [200, [{ name: 'gardener', scopes: [] }, 'readKey']])
  t.match(await send(app, 'GET', '/api/key?key=ab'), [401, { error: 40101 }])
  const refused = await app.inject({ method: 'DELETE', url: '/api/pets' })
  t.match(refused, { statusCode: 405, headers: { allow: 'GET, HEAD, POST', 'x-frame-options': /./ } })
  for (const url of ['/api/none', '/api', '/api/pets/'])
    t.match(await send(app, 'GET', url), [404, { error: 40400 }], url)
  t.match(await send(app, 'GET', '/api/pets/7', { headers: { host: 'a/b' } }), [400, { error: 40000 }])

  t.same(lines, [])
  t.match(await send(app, 'GET', '/api/broken'), [500, { error: 50000 }])
  const [line = '{}'] = lines
  t.match(JSON.parse(line), { reqId: /^req-/, request_id: /./, err: { message: 'broken' }, msg: 'request failed' })
})

t.test('nothing of a contract applies outside of its prefix', async (t) => {
  const { app } = await application(t)
  const seen: Seen = { aborted: [], contexts: [] }
  const before = app.supportedMethods
  app.register(contractPlugin, { ...optionsFor(seen), prefix: '/api' })
  await app.ready()
  t.same(await send(app, 'POST', '/own?a=1', { payload: { a: 1 } }), [200, { body: { a: 1 }, query: { a: '1' } }])
  t.same(await send(app, 'POST', '/own', { headers: { 'content-type': 'text/plain' }, payload: 'a' }), [
    200,
    { body: 'a', query: {} },
  ])
  t.match(await send(app, 'GET', '/own/fails'), [500, { own: 'failed' }])
  for (const url of ['/none', '/pets', '/apis']) t.same(await send(app, 'GET', url), [404, { own: 'not found' }], url)
  const own = await app.inject({ method: 'POST', url: '/own', payload: {} })
  t.notOk('x-request-id' in own.headers)
  t.same(app.getSchemas(), {})
  t.same(app.supportedMethods, before)
  t.same(seen.contexts, [], 'the observer sees the requests of the contract only')
  const { paths } = app.swagger() as { paths: Record<string, object> }
  t.ok(paths['/api/pets'] && paths['/own'])
  t.equal((await app.inject('/documentation/json')).statusCode, 200)
})

t.test('an application serves several contracts', async (t) => {
  const { app } = await application(t)
  const [one, two]: [Seen, Seen] = [
    { aborted: [], contexts: [] },
    { aborted: [], contexts: [] },
  ]
  app.register(contractPlugin, { ...optionsFor(one), prefix: '/one' })
  app.register(contractPlugin, {
    ...optionsFor(two, { errorBody: () => ({ contentType: 'text/plain', body: 'two' }), limits: { body: 10 } }),
    prefix: '/:tenant/two',
  })
  const payload = '{"id":1,"name":"Tom"}'
  t.same(await send(app, 'POST', '/one/pets', { headers: good, payload }), [200, { id: 1, name: 'Tom' }])
  t.same(await send(app, 'POST', '/shop/two/pets', { headers: good, payload }), [413, 'two'])
  t.same(await send(app, 'GET', '/shop/two/none'), [404, 'two'])
  t.same(await send(app, 'POST', '/shop/two/pets/7:feed'), [200, { fed: 7 }])
  const { statusCode, headers } = await app.inject({ method: 'PUT', url: '/shop/two/pets' })
  t.match([statusCode, headers.allow], [405, 'GET, HEAD, POST'])
  t.same(
    [one, two].map(({ contexts }) => contexts.map(({ operation, status }) => [operation, status])),
    [
      [['addPet', 200]],
      [
        ['addPet', 413],
        [undefined, 404],
        ['feedPet', 200],
        [undefined, 405],
      ],
    ],
  )
})

t.test('without a prefix, unknown paths and methods stay those of the application', async (t) => {
  const { app } = await application(t)
  app.register(contractPlugin, optionsFor({ aborted: [], contexts: [] }))
  t.same(await send(app, 'GET', '/pets/7'), [200, { id: 7 }])
  t.match(await send(app, 'GET', '/pets/'), [404, { error: 40400 }], 'a path parameter is never empty')
  for (const [method, url] of [
    ['GET', '/none'],
    ['DELETE', '/pets'],
  ] as const)
    t.same(await send(app, method, url), [404, { own: 'not found' }], url)
})

t.test('streams, uploads and forms work in an application', async (t) => {
  const { app } = await application(t)
  const seen: Seen = { aborted: [], contexts: [] }
  app.register(contractPlugin, { ...optionsFor(seen, { limits: { handlerTime: 200 } }), prefix: '/api' })
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api`

  const octets = { 'content-type': 'application/octet-stream' }
  const post = (path: string, body: string | FormData, headers: Record<string, string> = {}) =>
    fetch(url + path, { method: 'POST', body, headers })
  t.equal(await (await post('/stream', 'abc', octets)).text(), '3')
  t.equal((await post('/stream', 'a'.repeat(10_001), octets)).status, 413)
  const form = new FormData()
  form.append('name', 'Tom')
  form.append('file', new Blob(['abc']), 'a.txt')
  t.same(await (await post('/form', form)).json(), [
    ['name', 'Tom'],
    ['file', 3],
  ])
  t.equal(await (await fetch(`${url}/events`)).text(), 'data: 1\n\ndata: 2\n\n')
  t.equal((await fetch(`${url}/slow`)).status, 503, 'the handler timeout')

  const { port } = app.server.address() as { port: number }
  const client = await openSocket(t, port, 'GET /api/stream HTTP/1.1\r\nHost: a\r\n\r\n')
  await client.receives(/aaa/)
  client.socket.destroy()
  await until(() => seen.aborted.length > 0, 'the handler learns that the client is gone')
  t.same(seen.aborted, ['the connection is closed'])

  const impatient = await openSocket(t, port, 'GET /api/slow HTTP/1.1\r\nHost: a\r\n\r\n')
  await sleep(20)
  impatient.socket.destroy()
  const isUnanswered = ({ operation, status }: RequestContext) => operation === 'dawdle' && status === 0
  await until(() => seen.contexts.some(isUnanswered), 'the observer sees a request without a response')

  const open = await fetch(`${url}/stream`, { headers: { connection: 'close' } })
  await open.body?.getReader().read()
  await app.close()
  t.equal(seen.aborted[1], 'the service is shutting down')
  t.ok(seen.contexts.every(({ duration }) => duration > 0))
})

t.test('a client that waits for 100 Continue gets it once', async (t) => {
  const { app } = await application(t)
  app.register(contractPlugin, { ...optionsFor({ aborted: [], contexts: [] }), prefix: '/api' })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  for (const [path, type] of [
    ['/api/pets', 'application/json'],
    ['/api/stream', 'application/octet-stream'],
  ] as const) {
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nConnection: close`
    const framing = `Content-Type: ${type}\r\nContent-Length: 8\r\nExpect: 100-continue`
    const client = await openSocket(t, port, `${head}\r\n${framing}\r\n\r\n`)
    await client.receives(/100 Continue/)
    client.socket.write('{"id":1}')
    const text = await client.closed()
    t.equal(text.split('HTTP/1.1 100 Continue').length, 2, path)
    t.match(text, /HTTP\/1\.1 200 OK/)
  }
})

t.test('plugins of the option apply to the operations only', async (t) => {
  const { app } = await application(t)
  const seen: string[] = []
  const plugins = (instance: FastifyInstance) => {
    instance.addHook('onRoute', ({ url, method }) => void seen.push(`${method} ${url}`))
    instance.addHook('preHandler', async (_request, reply) => void reply.header('x-own', 'yes'))
  }
  app.register(contractPlugin, { ...optionsFor({ aborted: [], contexts: [] }, { plugins }), prefix: '/api' })
  t.equal((await app.inject('/api/pets')).headers['x-own'], 'yes')
  t.notOk('x-own' in (await app.inject({ method: 'POST', url: '/own', payload: {} })).headers)
  t.ok(seen.includes('GET /api/pets'))
})

t.test('a handler reads the parameters of a prefix from the request', async (t) => {
  const { app } = await application(t)
  const read = async ({ path }: { path: object }, { params }: { params: object }) => ({
    status: 200,
    body: [path, { ...params }],
  })
  const options = optionsFor({ aborted: [], contexts: [] })
  const handlers = { ...(options.handlers as object), getRoot: read, getPet: read } as never
  app.register(contractPlugin, { ...options, handlers, prefix: '/:tenant/api' })
  t.same(await send(app, 'GET', '/shop/api/'), [200, [{}, { tenant: 'shop' }]])
  t.same(await send(app, 'GET', '/shop/api/pets/7'), [200, [{ id: 7 }, { tenant: 'shop', id: 7 }]])
  t.match(await send(app, 'GET', '/shop/api/pets/x'), [400, { error: 40003 }])
})

t.test('an empty prefix is none', async (t) => {
  for (const prefix of ['', '/']) {
    const { app } = await application(t)
    app.register(contractPlugin, { ...optionsFor({ aborted: [], contexts: [] }), prefix })
    t.same(await send(app, 'GET', '/pets/7'), [200, { id: 7 }], prefix)
    t.same(await send(app, 'GET', '/none'), [404, { own: 'not found' }], prefix)
  }
})

t.test('a second contract under the same prefix stops the application at start', async (t) => {
  const { app } = await application(t)
  for (let count = 0; count < 2; count++)
    app.register(contractPlugin, { ...optionsFor({ aborted: [], contexts: [] }), prefix: '/api' })
  await t.rejects(async () => await app.ready(), {
    message:
      'a contract is already served under /api, whose unknown paths only one can reject; register both without a prefix, in a plugin with it',
  })
})

t.test('a schema of the application with a name of the document stops the application at start', async (t) => {
  const { app } = await application(t)
  app.addSchema({ $id: 'Pet', type: 'object' })
  app.register(contractPlugin, { ...optionsFor({ aborted: [], contexts: [] }), prefix: '/api' })
  await t.rejects(async () => await app.ready(), {
    message:
      'the application and the document both have a schema Pet; add that of the application in a plugin of its own',
  })
})

t.test(
  'a hook that replaces the body of an operation is a failure, since the body is read from the connection',
  async (t) => {
    const { app, lines } = await application(t)
    app.addHook('preParsing', async () => Readable.from([Buffer.from('{"id":2}')]))
    app.register(contractPlugin, { ...optionsFor({ aborted: [], contexts: [] }), prefix: '/api' })
    t.match(await send(app, 'POST', '/api/pets', { headers: good, payload: '{"id":1}' }), [500, { error: 50000 }])
    const octets = { 'content-type': 'application/octet-stream' }
    t.match(await send(app, 'POST', '/api/stream', { headers: octets, payload: 'a' }), [500, { error: 50000 }])
    t.match(JSON.parse(lines[0] as string), { err: { message: /^a preParsing hook has replaced the body/ } })
  },
)

t.test('a handler that is missing stops the application at start', async (t) => {
  const { app } = await application(t)
  app.register(contractPlugin, { ...optionsFor({ aborted: [], contexts: [] }), handlers: {}, prefix: '/api' } as never)
  await t.rejects(async () => await app.ready(), { message: /^the document and its handlers do not match\n/ })
})

t.test('operations that only a whole server can serve are refused', async (t) => {
  const withBody = { operationId: 'two', requestBody: json({}), responses: ok() }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Whole', version: '1' },
    paths: {
      '/a': { get: { operationId: 'zero', responses: ok() } },
      '/a?kind=a': { get: { operationId: 'one', responses: ok() } },
      '/b': { get: withBody },
    },
  }
  const handler = async () => ({ status: 200, body: null })
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(contractPlugin, {
    contract: { routes: compileRoutes(document as never) },
    handlers: { zero: handler, one: handler, two: handler } as never,
    verifiers: {},
    errorBody: errorBody as never,
  })
  await t.rejects(async () => await app.ready(), {
    message: [
      'a plugin cannot serve these operations; use createServer',
      'operation one shares its path with others and is selected by a parameter',
      'operation two is a GET with a body',
    ].join('\n  '),
  })
})
