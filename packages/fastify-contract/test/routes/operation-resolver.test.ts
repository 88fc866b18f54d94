import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import openapiGlue from 'fastify-openapi-glue'
import t, { type Test } from 'tap'
import { bearer } from '../../src/auth/verifiers.ts'
import type { ContractOptions } from '../../src/routes/contract-routes.ts'
import { createServer } from '../../src/routes/create-server.ts'
import { operationResolver } from '../../src/routes/operation-resolver.ts'
import { compileRoutes, errorBody } from '../support/serve-document.ts'

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const responses = { 200: { description: 'ok', ...json({}) } }
const int64 = { type: 'integer', format: 'int64' }
const id = { name: 'pet-id', in: 'path', required: true, schema: int64 }

/** A document with parts that fastify-openapi-glue alone does not serve. */
const document = {
  openapi: '3.2.0',
  info: { title: 'Pets', version: '1.0.0' },
  security: [{ bearer: [] }],
  paths: {
    '/pets': {
      post: {
        operationId: 'addPet',
        requestBody: { required: true, ...json({ type: 'object', properties: { id: int64 } }) },
        responses,
      },
      query: { operationId: 'findPets', security: [], requestBody: json({}), responses },
    },
    '/pets/{pet-id}': { parameters: [id], get: { operationId: 'getPet', security: [], responses } },
    '/pets/{pet-id}:rest': { parameters: [id], post: { operationId: 'restPet', security: [], responses } },
    '/pets/mine': { put: { security: [], 'x-no-fastify-config': true, operationId: 'putMine', responses } },
    '/my/names': { get: { security: [], operationId: 'myNames', responses } },
    '/names': { get: { security: [], responses } },
    '/names/my/names': { get: { security: [], operationId: 'allNames', responses } },
  },
  components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
}
const routes = compileRoutes(structuredClone(document) as never)
const [nameless = ''] = routes.operations
  .map((each) => each.operationId)
  .filter((each) => /name/i.test(each) && !/^(my|all)Names$/.test(each))

const echo = async (input: Record<string, unknown>) => ({ status: 200, body: [input.path, input.query, input.body] })
const handlers = {
  addPet: echo,
  findPets: echo,
  getPet: echo,
  restPet: echo,
  putMine: echo,
  myNames: echo,
  allNames: echo,
  [nameless]: async () => ({ status: 200, body: 'names' }),
}

const options = (t: Test): ContractOptions<unknown> => {
  t.comment(`the operation without an id is ${nameless}`)
  return {
    contract: { routes },
    handlers: handlers as never,
    verifiers: { bearer: bearer((token) => (token === 'good' ? { name: 'gardener', scopes: [] } : undefined)) },
    errorBody: errorBody as never,
    limits: { eventLoopDelay: 60_000 },
  }
}

/** Returns an application of a user of fastify-openapi-glue, with routes of its own. */
function applicationOf(t: Test): FastifyInstance {
  const app = Fastify()
  t.teardown(() => app.close())
  app.setErrorHandler((_error, _request, reply) => reply.code(418).send('own error'))
  app.post('/own', async ({ body }) => ({ own: body }))
  return app
}

/** Sends a request. Returns the status and the body, parsed if it is JSON. */
async function send(app: FastifyInstance, method: string, url: string, given: InjectOptions = {}) {
  const { statusCode, body } = await app.inject({ method: method as 'GET', url, ...given })
  return [statusCode, body.startsWith('[') || body.startsWith('{') ? JSON.parse(body) : body]
}

const authorization = 'Bearer good'
const typed = { 'content-type': 'application/json' }

for (const prefix of ['', '/v1'])
  t.test(`fastify-openapi-glue serves a contract by its operationResolver, with the prefix "${prefix}"`, async (t) => {
    const app = applicationOf(t)
    app.register(openapiGlue, {
      specification: document,
      operationResolver: operationResolver(app, options(t)),
      prefix,
    })
    const pets = `${prefix}/pets`
    const exact = '{"id":9007199254740993}'
    const response = await app.inject({
      method: 'POST',
      url: pets,
      headers: { authorization, ...typed },
      payload: exact,
    })
    t.equal(response.body, `[{},{},${exact}]`, 'integers are exact')
    t.match(response.headers['x-request-id'], /./)
    const missing = await app.inject({ method: 'POST', url: pets, headers: typed, payload: '{' })
    t.match(missing, { statusCode: 401, headers: { 'www-authenticate': 'Bearer realm="Pets"' } })
    t.match(missing.json(), { error: 40100 })
    t.match(await send(app, 'POST', pets, { headers: { authorization, ...typed }, payload: '{' }), [
      400,
      { error: 40002 },
    ])
    t.same(await send(app, 'GET', `${pets}/7`), [200, [{ 'pet-id': 7 }, {}, null]], 'a parameter with a hyphen')
    t.match(await send(app, 'GET', `${pets}/7?a=1`), [200])
    t.match(await send(app, 'GET', `${pets}/a`), [400, { error: 40003 }])
    t.same(await send(app, 'POST', `${pets}/7:rest`), [200, [{ 'pet-id': 7 }, {}, null]], 'text beside a parameter')
    const unknown = prefix === '' ? [404, { error: 'Not Found' }] : [405, { error: 40500 }]
    t.match(await send(app, 'POST', `${pets}/7%3Arest`), unknown)
    t.same(await send(app, 'QUERY', pets, { headers: typed, payload: '[1]' }), [200, [{}, {}, [1]]], 'another method')
    t.match(await send(app, 'PUT', `${pets}/mine`), [200], 'an operation that fastify-openapi-glue ignores')
    t.match(await send(app, 'GET', `${pets}/mine`), [405, { error: 40500 }])
    t.same(await send(app, 'GET', `${prefix}/names`), [200, '"names"'], 'an operation without an operationId')
    t.same(await send(app, 'HEAD', `${prefix}/names`), [200, ''])

    t.same(await send(app, 'POST', '/own', { payload: { a: 1 } }), [200, { own: { a: 1 } }])
    t.match(await send(app, 'POST', '/own', { headers: typed, payload: '{' }), [418, 'own error'])
    const elsewhere = await app.inject('/elsewhere')
    t.match(elsewhere.json(), { error: 'Not Found' })
    t.notOk('x-request-id' in elsewhere.headers)
    const below = await send(app, 'GET', `${prefix}/none`)
    if (prefix === '') t.match(below, [404, { error: 'Not Found' }])
    else t.match(below, [404, { error: 40400 }])
  })

t.test('a skipped operation gets 501, below each server', async (t) => {
  const { addPet, findPets, restPet, putMine } = handlers
  const supported: Record<string, unknown> = { addPet, findPets, restPet, putMine }
  const isSupported = ({ operationId }: { operationId: string }) => Object.hasOwn(supported, operationId)
  const skipped = routes.operations.filter((operation) => !isSupported(operation))
  const withoutIds = skipped.map(({ method, servedPaths }) => ({
    method,
    servedPaths: ['/v1', '', '/v22'].flatMap((server) =>
      servedPaths.map(({ path, url, pattern }) => ({
        path: server + path,
        url: server + url,
        pattern: pattern.replace('^', `^${server}`),
      })),
    ),
  }))
  const app = applicationOf(t)
  const contract = { routes: { ...routes, operations: routes.operations.filter(isSupported), skipped: withoutIds } }
  const given = { ...options(t), contract, handlers: supported as never }
  app.register(openapiGlue, { specification: document, operationResolver: operationResolver(app, given) })
  for (const server of ['', '/v1', '/v22'])
    for (const path of ['/pets/7', '/names', '/my/names', '/names/my/names'])
      t.match(await send(app, 'GET', server + path), [501, { error: 50100 }], server + path)
})

t.test('fastify-openapi-glue serves the contract of a server', async (t) => {
  const seen: string[] = []
  const app = createServer({
    ...options(t),
    plugins(app) {
      app.addHook('onRoute', function see({ method, url }) {
        seen.push(`${this === app ? 'server' : 'plugin'} ${method} ${url}`)
      })
      app.register(openapiGlue, { specification: document, operationResolver: operationResolver(app) })
    },
  })
  t.teardown(() => app.close())
  t.match(await send(app, 'POST', '/pets', { headers: typed, payload: '{' }), [401, { error: 40100 }])
  t.match(await send(app, 'POST', '/pets/7:rest'), [200])
  t.match(await send(app, 'QUERY', '/pets', { headers: typed, payload: '1' }), [200])
  t.match(await send(app, 'DELETE', '/pets'), [405, { error: 40500 }])
  t.match(await send(app, 'GET', '/none'), [404, { error: 40400 }])
  t.ok(seen.includes('plugin POST /pets'))
  t.ok(seen.includes('server QUERY /pets'))
})

t.test('a specification with an operation that the contract lacks is refused', async (t) => {
  const app = applicationOf(t)
  const paths = { ...document.paths, '/other': { get: { operationId: 'other', responses } } }
  app.register(openapiGlue, {
    specification: { ...document, paths },
    operationResolver: operationResolver(app, options(t)),
  })
  const message = 'the contract has no operation other, which the specification has'
  await t.rejects(async () => await app.ready(), {
    message: `${message}; run generate for the document that fastify-openapi-glue gets`,
  })
})

t.test('the routes of an operationResolver have an instance of their own', async (t) => {
  const message = 'fastify-openapi-glue must register the routes of an operationResolver, and only once'
  const direct = applicationOf(t)
  const resolve = operationResolver(direct, options(t))
  direct.register(
    Object.assign(async () => void direct.route(resolve('getPet', 'GET', '/pets/{pet-id}')), {
      [Symbol.for('skip-override')]: true,
    }),
  )
  await t.rejects(async () => await direct.ready(), { message })
  const twice = applicationOf(t)
  const shared = { specification: document, operationResolver: operationResolver(twice, options(t)) }
  twice.register(openapiGlue, shared)
  twice.register(openapiGlue, { ...shared, prefix: '/v2' })
  await t.rejects(async () => await twice.ready(), { message })
})

t.test('an app of another origin needs options', async (t) => {
  t.throws(() => operationResolver(applicationOf(t)), {
    message: 'this plugin needs an app of createServer; register it on one',
  })
})
