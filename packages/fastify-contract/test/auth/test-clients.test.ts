import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { basic } from '../../src/auth/basic.ts'
import { testCredentials } from '../../src/auth/test-clients.ts'
import { apiKey, type BearerAuth, bearer, bearerHook } from '../../src/auth/verifiers.ts'
import { createServer } from '../../src/routes/create-server.ts'
import { compileRoutes, errorBody } from '../support/serve-document.ts'

const responses = { 200: { description: 'The client.', content: { 'application/json': { schema: {} } } } }
const document = {
  openapi: '3.1.0',
  info: { title: 'Trees', version: '1.0.0' },
  components: {
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer' },
      hook: { type: 'oauth2', flows: {} },
      basic: { type: 'http', scheme: 'basic' },
      key: { type: 'apiKey', in: 'header', name: 'x-key' },
      own: { type: 'apiKey', in: 'header', name: 'x-own' },
    },
  },
  paths: Object.fromEntries(
    ['token', 'hook', 'basic', 'key', 'own'].map((name) => [
      `/${name}`,
      { get: { operationId: name, security: [{ [name]: name === 'own' ? [] : ['prune'] }], responses } },
    ]),
  ),
}
const routes = compileRoutes(document as never)
const handler = async ({ client }: { client?: { name: string } }) => ({ status: 200, body: client?.name ?? null })

async function pluginHook(app: FastifyInstance, auth: BearerAuth) {
  await app.register(bearerAuth, { keys: new Set<string>(), addHook: false, auth, verifyErrorLogLevel: 'debug' })
  return app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>
}

const owner = { name: 'owner', scopes: ['prune'] }
const verify = (token: string) => (token === 'real' ? owner : undefined)

function serve(t: Test): FastifyInstance {
  const app = createServer({
    contract: { routes },
    handlers: Object.fromEntries(routes.operations.map(({ operationId }) => [operationId, handler])) as never,
    verifiers: {
      token: bearer(verify),
      hook: bearerHook(verify, pluginHook),
      basic: basic(({ password }) => verify(password)),
      key: apiKey({ in: 'header', name: 'x-key' }, verify),
      own: () => (_request, done) => done(undefined, owner),
    },
    errorBody: errorBody as never,
    limits: { eventLoopDelay: 60_000, authFailures: 0 },
  })
  t.teardown(() => app.close())
  return app
}

const written: Record<string, (secret: string) => Record<string, string>> = {
  token: (secret) => ({ authorization: `Bearer ${secret}` }),
  hook: (secret) => ({ authorization: `Bearer ${secret}` }),
  basic: (secret) => ({ authorization: `Basic ${btoa(secret.includes(':') ? secret : `any:${secret}`)}` }),
  key: (secret) => ({ 'x-key': secret }),
}

/** Returns the name of the client of a secret, or the status of the rejection. */
async function answer(app: FastifyInstance, scheme: string, secret: string | undefined): Promise<unknown> {
  const { statusCode, body } = await app.inject({ url: `/${scheme}`, headers: written[scheme]?.(String(secret)) ?? {} })
  return statusCode === 200 ? JSON.parse(body) : statusCode
}

t.test('a test has credentials of each scheme, and others stay as they were', async (t) => {
  const app = serve(t)
  const { schemes: found, withdraw } = await testCredentials(app, ['prune'])
  t.same(Object.keys(found), ['token', 'hook', 'basic', 'key'])
  for (const [scheme, { accepted, narrow, rejected }] of Object.entries(found)) {
    t.same(rejected, {}, 'without a JWT verifier')
    t.same(await answer(app, scheme, accepted), 'contract-test', scheme)
    t.same(await answer(app, scheme, narrow), 403, scheme)
    t.same(await answer(app, scheme, 'real'), 'owner', scheme)
    t.same(await answer(app, scheme, 'wrong'), 401, scheme)
    const others = Object.entries(found).filter(([name]) => name !== scheme)
    for (const [name, { accepted }] of others)
      t.same(await answer(app, scheme, accepted), 401, `${scheme} with that of ${name}`)
  }
  withdraw()
  for (const [scheme, { accepted, narrow }] of Object.entries(found)) {
    for (const secret of [accepted, narrow]) t.same(await answer(app, scheme, secret), 401, `${scheme} after the test`)
    t.same(await answer(app, scheme, 'real'), 'owner', scheme)
  }
})

t.test('credentials of one application are not those of another', async (t) => {
  const { schemes } = await testCredentials(serve(t), [])
  t.equal(await answer(serve(t), 'token', schemes.token?.accepted), 401)
})

t.test('a test withdraws its own credentials only', async (t) => {
  const app = serve(t)
  const [one, other] = [await testCredentials(app, ['prune']), await testCredentials(app, ['prune'])]
  one.withdraw()
  one.withdraw()
  t.same(await answer(app, 'token', one.schemes.token?.accepted), 401)
  t.same(await answer(app, 'token', other.schemes.token?.accepted), 'contract-test')
})

t.test(
  'an application without verifiers of the engine has no credentials, and production has none at all',
  async (t) => {
    const { default: Fastify } = await import('fastify')
    t.match(await testCredentials(Fastify(), []), { schemes: {} })
    const { NODE_ENV } = process.env
    process.env.NODE_ENV = 'production'
    t.teardown(function restore() {
      if (NODE_ENV === undefined) delete process.env.NODE_ENV
      else process.env.NODE_ENV = NODE_ENV
    })
    await t.rejects(testCredentials(serve(t), []), /NODE_ENV is production/)
  },
)

t.test('another copy of the engine in the process has credentials, as that of the commands', async (t) => {
  const path = '../../src/auth/test-clients.ts?copy'
  const copy: { testCredentials: typeof testCredentials } = await import(path)
  t.not(copy.testCredentials, testCredentials)
  const app = serve(t)
  const { schemes } = await copy.testCredentials(app, ['prune'])
  t.same(await answer(app, 'token', schemes.token?.accepted), 'contract-test')
})
