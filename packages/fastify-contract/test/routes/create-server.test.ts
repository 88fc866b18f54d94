import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Document } from 'fastify-contract-cli/testing'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { openSocket } from 'fastify-contract-test-support/open-socket'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { VerifierFactory } from '../../src/auth/verifiers.ts'
import { createServer, type ServerOptions } from '../../src/routes/create-server.ts'
import { compileRoutes, serveDocument } from '../support/serve-document.ts'

/** The handlers of the document below. */
type Handlers = Record<'getLeaf' | 'getRoot', () => Promise<object>>

const content = { 'application/json': { schema: { type: 'string' } } }
const operation = (operationId: string) => ({
  operationId,
  security: [{ badge: [] }],
  responses: { 200: { description: 'ok', content }, default: { description: 'an error', content } },
})
const document = {
  openapi: '3.1.0',
  info: { title: 'Tree “1”', version: '1.0.0' },
  paths: { '/leaf': { get: operation('getLeaf') }, '/root': { get: operation('getRoot') } },
  components: { securitySchemes: { badge: { type: 'apiKey', in: 'header', name: 'X-Badge' } } },
} as unknown as Document
const contract = { routes: compileRoutes(document) }

/** Accepts any request that has a badge. */
const badge: VerifierFactory = () => (request, done) =>
  request.headers['x-badge'] === undefined
    ? done(new Error('no badge'))
    : done(undefined, { name: 'guest', scopes: [] })

const options: ServerOptions<Handlers> = {
  contract,
  handlers: {
    getLeaf: async () => ({ status: 200, body: 'leaf' }),
    getRoot: async () => ({ status: 200, body: 'root' }),
  },
  verifiers: { badge },
  errorBody: ({ message }) => ({ contentType: 'application/json', body: message }),
  // The tests share one machine.
  limits: { eventLoopDelay: 60_000 },
}

/** Creates a server that closes when the test ends. */
function create(t: Test, others: Partial<ServerOptions<Handlers>> = {}): FastifyInstance {
  const app = createServer<Handlers>({ ...options, ...others })
  t.teardown(() => app.close())
  return app
}

const get = (app: FastifyInstance, url: string) => app.inject({ url, headers: { 'x-badge': 'b' } })

/** Returns a plugin whose hooks apply outside of it, as fastify-plugin does. */
const fp = (plugin: (app: FastifyInstance) => Promise<void>) =>
  Object.assign(plugin, { [Symbol.for('skip-override')]: true })

for (const isLoaded of [false, true])
  t.test(`plugins, hooks and routes added ${isLoaded ? 'after' : 'before'} the operations apply`, async (t) => {
    const app = create(t)
    if (isLoaded) await app
    app.decorate('forest', 'pine')
    app.register(
      fp(async (app) => {
        app.addHook('onSend', async (_request, reply, payload) => {
          reply.header('x-forest', app.getDecorator<string>('forest'))
          return payload
        })
      }),
    )
    app.addHook('preHandler', async ({ routeOptions }, reply) => {
      const { operationId } = routeOptions.schema as { operationId?: string }
      if (operationId === 'getLeaf') reply.header('x-leaf', 'yes')
    })
    app.get('/own', { schema: {} }, async () => ({ own: true }))
    await app.listen({ host: '127.0.0.1', port: 0 })
    const leaf = await get(app, '/leaf')
    t.match(leaf, { statusCode: 200, body: '"leaf"', headers: { 'x-forest': 'pine', 'x-leaf': 'yes' } })
    const root = await get(app, '/root')
    t.match(root, { statusCode: 200, body: '"root"', headers: { 'x-forest': 'pine' } })
    t.notOk('x-leaf' in root.headers)
    t.match(await get(app, '/none'), { statusCode: 404, headers: { 'x-forest': 'pine' } })
    t.match(await get(app, '/own'), { statusCode: 200, body: '{"own":true}' })
  })

t.test('onRoute hooks see the operations if they are added at once, or by a plugin of the option', async (t) => {
  const seen: string[] = []
  const app = create(t, {
    plugins: (app) =>
      void app.register(
        fp(async (app) => {
          app.addHook('onRoute', ({ url }) => void seen.push(`plugin ${url}`))
        }),
      ),
  })
  app.addHook('onRoute', ({ url, method }) => void seen.push(`${method} ${url}`))
  await app.ready()
  for (const url of ['/leaf', '/root']) {
    t.ok(seen.includes(`plugin ${url}`), url)
    t.ok(seen.includes(`GET ${url}`), url)
  }
})

t.test('handlers may use the decorators and hooks of the application', async (t) => {
  const app = create(t)
  const order: string[] = []
  app.addHook('onRequest', async () => void order.push('hook'))
  app.addHook('onResponse', async () => void order.push('response'))
  await get(app, '/leaf')
  t.same(order, ['hook', 'response'])
})

t.test('a verifier that cannot be created makes the instance fail to load', async (t) => {
  const failing = { badge: async () => Promise.reject(new Error('no issuer')) }
  await t.rejects(async () => await create(t, { verifiers: failing }).ready(), { message: 'no issuer' })
  await t.rejects(async () => await create(t, { verifiers: failing }), { message: 'no issuer' })
})

t.test('a missing handler or verifier is reported at once', async (t) => {
  const message = [
    'the document and its handlers do not match',
    'operation getLeaf has no handler; add one to `handlers`',
    'operation getLeaf: security scheme badge has no verifier; add one to `verifiers`',
    'operation getRoot: security scheme badge has no verifier; add one to `verifiers`',
  ].join('\n  ')
  const handlers = { getRoot: options.handlers.getRoot } as typeof options.handlers
  t.throws(() => create(t, { handlers, verifiers: {} }), { message })
})

t.test('the realm is the title of the document, in ASCII, or the given one', async (t) => {
  const realms: string[] = []
  const verifiers: Record<string, VerifierFactory> = {
    badge(context) {
      realms.push(context.realm)
      return badge(context)
    },
  }
  await create(t, { verifiers }).ready()
  await create(t, { verifiers, realm: 'trees' }).ready()
  t.same(realms, ['Tree ?1?', 'trees'])
})

t.test('errors go to the given log, or to none', async (t) => {
  const lines: string[] = []
  const handlers = { ...options.handlers, getLeaf: () => Promise.reject(new Error('rotten')) }
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  t.match(await get(create(t, { handlers, log }), '/leaf'), {
    statusCode: 500,
    body: '"internal error; its X-Request-Id is in the log"',
  })
  t.match(lines, [/rotten/])
  t.equal((await get(create(t, { handlers }), '/leaf')).statusCode, 500)
})

t.test('a request beyond the limit of requests in flight gets 503', async (t) => {
  let finish = () => {}
  const waiting = new Promise<void>((resolve) => {
    finish = resolve
  })
  let started = () => {}
  const running = new Promise<void>((resolve) => {
    started = resolve
  })
  const handlers: typeof options.handlers = {
    ...options.handlers,
    async getLeaf() {
      started()
      await waiting
      return { status: 200, body: 'leaf' }
    },
  }
  const app = create(t, { handlers, limits: { eventLoopDelay: 60_000, inFlight: 1 } })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const ask = (path: string) => fetch(url + path, { headers: { 'x-badge': 'b' } })
  const first = ask('/leaf')
  await running
  const second = await ask('/root')
  t.equal(second.status, 503)
  t.ok(second.headers.has('retry-after'))
  finish()
  t.equal((await first).status, 200)
})

t.test('a guard that throws after the check of a large header section ends only its request', async (t) => {
  const shed = () => {
    throw new Error('no meter')
  }
  const limits = { eventLoopDelay: 60_000, inFlight: 0, headers: 1_024 }
  const app = create(t, { limits, shed })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  // The head and the body arrive together, so they exceed the limit of the header section until Node has parsed both.
  const head = 'GET /leaf HTTP/1.1\r\nHost: a\r\nX-Badge: b\r\nConnection: close\r\nContent-Length: 2000\r\n\r\n'
  const { closed } = await openSocket(t, port, head + 'x'.repeat(2_000))
  t.match(await closed(), /^HTTP\/1\.1 500 /)
})

/** Paths with text beside their parameters. */
const paths = [
  '/v1/{id}',
  '/v1/{id}:cancel',
  '/v1/{id}:move.{to}',
  '/v1/{id}/parts:sort',
  '/between/{a}t.{b}',
  '/three/{a}..{b}-{c}(z)',
  '/file/{name}.json',
  '/users({id})',
  '/tags/{name}#list',
  '/named/{a-b}:do',
]

const parametersOf = (path: string) =>
  Array.from(path.matchAll(/\{([^}]*)\}/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

t.test('a parameter that is a part of a path segment ends where the text after it begins', async (t) => {
  const responses = { 200: { content: { 'application/json': { schema: {} } } } }
  const items = paths.map((path, index) => [
    path,
    { get: { operationId: `o${index}`, parameters: parametersOf(path), responses } },
  ])
  const document = { openapi: '3.1.0', info: { title: 'Paths', version: '1' }, paths: Object.fromEntries(items) }
  const handlers = paths.map((template, index) => [
    `o${index}`,
    async ({ path }: { path: object }) => ({ status: 200, body: [template, path] }),
  ])
  const app = await serveDocument(document as unknown as Document, { handlers: Object.fromEntries(handlers) })
  t.teardown(() => app.close())
  const cases: [url: string, template: string, parameters: object][] = [
    ['/v1/5', '/v1/{id}', { id: '5' }],
    ['/v1/5:cancel', '/v1/{id}:cancel', { id: '5' }],
    ['/v1/a%2Fb:cancel', '/v1/{id}:cancel', { id: 'a/b' }],
    ['/v1/5:other', '/v1/{id}', { id: '5:other' }],
    ['/v1/:cancel', '/v1/{id}', { id: ':cancel' }],
    ['/v1/5:move.7', '/v1/{id}:move.{to}', { id: '5', to: '7' }],
    ['/v1/5/parts:sort', '/v1/{id}/parts:sort', { id: '5' }],
    ['/between/xt.y', '/between/{a}t.{b}', { a: 'x', b: 'y' }],
    ['/between/xt.t.y', '/between/{a}t.{b}', { a: 'x', b: 't.y' }],
    ['/three/1..2-3(z)', '/three/{a}..{b}-{c}(z)', { a: '1', b: '2', c: '3' }],
    ['/file/a.json', '/file/{name}.json', { name: 'a' }],
    ['/users(5)', '/users({id})', { id: '5' }],
    ['/tags/a', '/tags/{name}#list', { name: 'a' }],
    ['/named/9:do', '/named/{a-b}:do', { 'a-b': '9' }],
  ]
  for (const [url, template, parameters] of cases)
    t.same((await app.inject({ url })).json(), [template, parameters], url)
  for (const url of [
    '/file/.json',
    '/file/a.jsonl',
    '/between/xy',
    '/between/t.y',
    '/users()',
    `/between/${'t.'.repeat(5000)}`,
  ])
    t.equal((await app.inject({ url })).statusCode, 404, url.slice(0, 20))
})

t.test('an encoded delimiter is data, not the text beside a parameter', async (t) => {
  const operation = (operationId: string) => ({
    operationId,
    parameters: parametersOf('{id}'),
    responses: { 200: { content: { 'application/json': { schema: {} } } } },
  })
  const document = {
    openapi: '3.1.0',
    info: { title: 'Paths', version: '1' },
    paths: {
      '/v1/{id}:cancel': { post: operation('cancel'), get: operation('show') },
      '/v1/{id}': { post: operation('change'), delete: operation('remove') },
      '/v2/{id}:cancel': { post: operation('cancelOther') },
      '/v2/{id}.json': { post: operation('write') },
    },
  }
  const ids = ['cancel', 'show', 'change', 'remove', 'cancelOther', 'write']
  const handlers = ids.map((name) => [
    name,
    async ({ path }: { path: { id: string } }) => ({ status: 200, body: [name, path.id] }),
  ])
  const app = await serveDocument(document as unknown as Document, { handlers: Object.fromEntries(handlers) })
  t.teardown(() => app.close())
  const bodyOf = async (url: string) => (await app.inject({ method: 'POST', url })).json()
  t.same(await bodyOf('/v1/5:cancel'), ['cancel', '5'])
  for (const url of ['/v1/5%3Acancel', '/v1/5%3acancel?a=:cancel'])
    t.same(await bodyOf(url), ['change', '5:cancel'], url)
  t.same(await bodyOf('/v1/5%3Acancel:cancel'), ['cancel', '5:cancel'])
  t.same(await bodyOf('/v1/5:cancel'.replace('l', '%6C')), ['cancel', '5'], 'a letter may be encoded')
  t.same(await bodyOf('/v2/5%2Ejson'), ['write', '5'], 'a dot may be encoded')
  t.equal((await app.inject({ method: 'POST', url: '/v2/5%3Acancel' })).statusCode, 404)
  t.equal((await app.inject({ method: 'HEAD', url: '/v1/5:cancel' })).statusCode, 200)
  const statusOf = async (method: 'GET' | 'DELETE', url: string) => (await app.inject({ method, url })).statusCode
  t.equal(await statusOf('DELETE', '/v1/5:cancel'), 405)
  t.equal(await statusOf('DELETE', '/v1/5%3Acancel'), 200)
  t.equal(await statusOf('GET', '/v1/5%3Acancel'), 405)
  t.equal(await statusOf('GET', '/v1/5%zz:cancel'), 400)
})

const text = { type: 'string' }
const parameters = ['X-Trace', 'x-request-id'].map((name) => ({ name, in: 'header', schema: text }))
const headers = Object.fromEntries(['X-Total', 'retry-after'].map((name) => [name, { schema: text }]))
const responses = { 204: { description: 'nothing', headers } }

const things = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1.0.0' },
  paths: {
    '/things': {
      get: { operationId: 'listThings', security: [{}, { key: [], cookie: [] }], parameters, responses },
      put: { operationId: 'putThings', responses },
    },
    '/others': { put: { operationId: 'putOthers', parameters, responses } },
  },
  components: {
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      cookie: { type: 'apiKey', in: 'cookie', name: 'X-Cookie' },
      unused: { type: 'apiKey', in: 'header', name: 'X-Unused' },
    },
  },
}

t.test('a preflight request allows the methods and headers of the document, also under overload', async (t) => {
  const handler = async () => ({ status: 204, body: undefined })
  const app = await serveDocument(things, {
    handlers: { listThings: handler, putThings: handler, putOthers: handler },
    verifiers: { key: (_request, done) => done(), cookie: (_request, done) => done() },
    origins: ['https://app.example'],
    limits: { inFlight: 0 },
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const origin = 'https://app.example'
  for (const path of ['/things', '/nowhere']) {
    const asks = { origin, 'access-control-request-method': 'PUT' }
    const { status, headers } = await httpRequest(`${url}${path}`, { method: 'OPTIONS', headers: asks })
    t.equal(status, 204)
    t.equal(headers['access-control-allow-methods'], 'GET, PUT')
    t.equal(
      headers['access-control-allow-headers'],
      'Authorization, Content-Type, Traceparent, Tracestate, X-Key, X-Request-Id, X-Trace',
    )
  }
  const { status, headers } = await httpRequest(`${url}/things`, { headers: { origin } })
  t.equal(status, 503)
  t.equal(
    headers['access-control-expose-headers'],
    'Accept, Allow, Retry-After, WWW-Authenticate, X-Request-Id, X-Total',
  )
})

t.test('pages of other origins may read the fields of a rate limit', async (t) => {
  const handler = async () => ({ status: 204, body: undefined })
  const app = await serveDocument(things, {
    handlers: { listThings: handler, putThings: handler, putOthers: handler },
    verifiers: { key: (_request, done) => done(), cookie: (_request, done) => done() },
    origins: ['https://app.example'],
    limits: { requests: 5 },
  })
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/things`
  const { headers } = await httpRequest(url, { headers: { origin: 'https://app.example' } })
  t.match(headers['access-control-expose-headers'], 'RateLimit, RateLimit-Policy')
})
