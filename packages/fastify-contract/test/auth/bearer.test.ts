import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import type { VerifyToken } from '../../src/auth/tokens.ts'
import { type BearerAuth, bearer, bearerHook, type VerifierFactory } from '../../src/auth/verifiers.ts'
import { createServer } from '../../src/routes/create-server.ts'
import { compileRoutes, errorBody } from '../support/serve-document.ts'

const responses = { 200: { description: 'The client.', content: { 'application/json': { schema: {} } } } }
const document = {
  openapi: '3.1.0',
  info: { title: 'Trees', version: '1.0.0' },
  components: { securitySchemes: { one: { type: 'http', scheme: 'bearer' }, two: { type: 'oauth2', flows: {} } } },
  paths: {
    '/leaf': { get: { operationId: 'getLeaf', security: [{ one: [] }], responses } },
    '/pruned': { get: { operationId: 'getPruned', security: [{ one: ['prune'] }], responses } },
    '/either': { get: { operationId: 'getEither', security: [{ two: [] }, { one: [] }], responses } },
    '/both': { get: { operationId: 'getBoth', security: [{ one: [], two: [] }], responses } },
  },
}
const routes = compileRoutes(document as never)
const handler = async ({ client }: { client?: { name: string } }) => ({ status: 200, body: client?.name ?? null })
const handlers = { getLeaf: handler, getPruned: handler, getEither: handler, getBoth: handler }

const options = {
  keys: new Set<string>(),
  addHook: false,
  specCompliance: 'rfc6749',
  verifyErrorLogLevel: 'debug',
} as const

/** Creates the hook of the plugin, of which a server may have several. */
async function pluginHook(app: FastifyInstance, auth: BearerAuth) {
  if (!app.hasDecorator('verifyBearerAuthFactory')) await app.register(bearerAuth, options)
  return (app.verifyBearerAuthFactory as bearerAuth.verifyBearerAuthFactory)({ ...options, auth })
}

const client = { name: 'gardener', scopes: ['water'] }
const verifyOne: VerifyToken = (token) => (token === 'good' ? client : undefined)
const verifyTwo: VerifyToken = async (token) => (token === 'other' ? { name: 'botanist', scopes: [] } : undefined)

type Kind = (verify: VerifyToken) => VerifierFactory

const kinds: [name: string, kind: Kind][] = [
  ['the engine', bearer],
  ['@fastify/bearer-auth', (verify) => bearerHook(verify, pluginHook)],
]

function serve(t: Test, kind: Kind, one = verifyOne, two = verifyTwo): FastifyInstance {
  const app = createServer({
    contract: { routes },
    handlers: handlers as never,
    verifiers: { one: kind(one), two: kind(two) },
    errorBody: errorBody as never,
    limits: { eventLoopDelay: 60_000, authFailures: 0 },
  })
  t.teardown(() => app.close())
  return app
}

const challenge = 'Bearer realm="Trees"'
const invalidChallenge = `${challenge}, error="invalid_token"`

for (const [name, kind] of kinds) {
  t.test(`bearer tokens that ${name} reads`, async (t) => {
    const app = serve(t, kind)
    const get = async (authorization: string | undefined, url = '/leaf') => {
      const { statusCode, body, headers } = await app.inject({
        url,
        headers: authorization === undefined ? {} : { authorization },
      })
      return [statusCode, JSON.parse(body).error ?? JSON.parse(body), headers['www-authenticate']]
    }
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  '])
      t.same(await get(`${scheme} good`), [200, 'gardener', undefined], scheme)
    for (const missing of [undefined, '', 'Bearer', 'Bearer ', 'good', 'Basic good', `${'Bearer'}good`, 'Bearer\tgood'])
      t.same(await get(missing), [401, 40100, challenge], missing ?? 'none')
    for (const wrong of ['Bearer bad', 'Bearer good x', 'Bearer "good"', 'Bearer \xa0good', 'Bearer good,', 'Bearer ='])
      t.same(await get(wrong), [401, 40101, invalidChallenge], wrong)
    t.same(await get('Bearer good', '/pruned'), [403, 40300, `${challenge}, error="insufficient_scope", scope="prune"`])
    t.same(await get('Bearer good', '/either'), [200, 'gardener', undefined])
    t.same(await get('Bearer other', '/either'), [200, 'botanist', undefined])
    t.same(await get('Bearer bad', '/either'), [401, 40101, invalidChallenge])
    for (const half of ['good', 'other'])
      t.same(await get(`Bearer ${half}`, '/both'), [401, 40101, invalidChallenge], half)
  })

  t.test(`failing verifiers of tokens that ${name} reads`, async (t) => {
    const failures: [thrown: unknown, status: number][] = [
      [new Error('broken'), 500],
      [undefined, 500],
      [Object.assign(new Error('the issuer is away'), { retryAfter: 1 }), 503],
    ]
    for (const [thrown, status] of failures) {
      const fail = () => {
        throw thrown
      }
      for (const verify of [fail, async () => fail()]) {
        const app = serve(t, kind, verify as VerifyToken)
        const response = await app.inject({ url: '/leaf', headers: { authorization: 'Bearer good' } })
        t.equal(response.statusCode, status, String(thrown))
      }
    }
  })
}

t.test('a hook that accepts a request without its token fails', async (t) => {
  const careless = async () => (_request: FastifyRequest, _reply: FastifyReply, done: () => void) => done()
  const app = serve(t, (verify) => bearerHook(verify, careless))
  t.equal((await app.inject({ url: '/leaf', headers: { authorization: 'Bearer good' } })).statusCode, 500)
})

t.test('a hook gets the request and the reply of Fastify', async (t) => {
  const seen: [FastifyRequest, FastifyReply][] = []
  const hookOf = async (_app: FastifyInstance, auth: BearerAuth) => {
    return async (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
      seen.push([request, reply])
      done((await auth('good', request)) ? undefined : new Error('refused'))
    }
  }
  const app = serve(t, (verify) => bearerHook(verify, hookOf as never))
  app.addHook('onSend', async (request, reply) => void seen.push([request, reply]))
  t.equal((await app.inject({ url: '/leaf', headers: { authorization: 'Bearer good' } })).statusCode, 200)
  const [inHook, inSend] = seen
  t.equal(inHook?.[0], inSend?.[0])
  t.equal(inHook?.[1], inSend?.[1])
})
