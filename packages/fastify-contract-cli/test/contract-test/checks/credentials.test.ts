import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { runContractTest } from '../../../src/contract-test/contract-test.ts'
import { documentOf } from '../test-application.ts'

const content = { 'application/json': { schema: { type: 'object' } } }
const document = {
  ...documentOf(
    {
      '/things': {
        post: {
          operationId: 'makeThing',
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { type: 'object' }, example: { name: 'abc' } } },
          },
          responses: {
            201: { description: 'Created.', content },
            401: {
              description: 'No credentials.',
              headers: { 'WWW-Authenticate': { required: true, schema: { type: 'string' } } },
            },
          },
        },
      },
    },
    { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  ),
  security: [{ bearer: [] }],
}

type Options = { challenge?: string; onCut?: (app: FastifyInstance) => void }

/** Serves the document; only a request with credentials reaches its body. */
async function served(t: Test, { challenge = 'Bearer', onCut }: Options): Promise<{ url: string }> {
  const app = Fastify()
  app.addHook('onRequest', async function authenticate({ headers, raw }, reply) {
    if (headers.authorization !== 'Bearer right') {
      if (challenge !== '') reply.header('www-authenticate', challenge)
      return reply.code(401).send()
    }
    raw.on('close', () => raw.complete || onCut?.(app))
  })
  app.post('/things', { schema: { body: { type: 'object' } } }, (_, reply) => reply.code(201).send({}))
  t.teardown(() => app.close())
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }) }
}

const options = { document, credentials: { bearer: 'right' }, requests: 20 }
const checksOf = async (server: { url: string }) => [
  ...new Set((await runContractTest(server, options)).failures.map(({ check }) => check)),
]

t.test('a right server passes', async (t) => t.same(await checksOf(await served(t, {})), []))

t.test('responses to wrong credentials are compared with the document, too', async (t) => {
  t.same(await checksOf(await served(t, { challenge: '' })), ['documented-headers', 'authenticate-header'])
})

t.test('a request that is cut off has credentials, so that the server reads its body', async (t) => {
  let cuts = 0
  await checksOf(
    await served(t, {
      onCut() {
        cuts++
      },
    }),
  )
  t.ok(cuts > 0)
})
