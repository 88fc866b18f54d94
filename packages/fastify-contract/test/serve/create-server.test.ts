import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { VerifierFactory } from '../../src/auth/verifiers.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { createServer, type ServerOptions } from '../../src/serve/create-server.ts'
import { compileRoutes } from '../support/serve-document.ts'

type Text = { content: { 'application/json': string } }
/** What openapi-typescript generates for the document below. */
type Operations = Record<'getLeaf' | 'getRoot', { responses: { 200: Text; default: Text } }>

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

const options: ServerOptions<Operations> = {
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
function create(t: Test, others: Partial<ServerOptions<Operations>> = {}): FastifyInstance {
  const app = createServer<Operations>({ ...options, ...others })
  t.teardown(() => app.close())
  return app
}

const get = (app: FastifyInstance, url: string) => app.inject({ url, headers: { 'x-badge': 'b' } })

/** Returns a plugin whose hooks apply outside of it, as fastify-plugin does. */
const fp = (plugin: (app: FastifyInstance) => Promise<void>) =>
  Object.assign(plugin, { [Symbol.for('skip-override')]: true })

for (const isLoaded of [false, true]) {
  t.test(
    `plugins, hooks and routes that are added ${isLoaded ? 'after' : 'before'} the operations apply`,
    async (t) => {
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
    },
  )
}

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
