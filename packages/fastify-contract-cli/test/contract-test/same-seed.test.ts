import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { requestCredentials } from '../../src/contract-test/credentials/request-credentials.ts'
import type { Target, TestRequest } from '../../src/contract-test/exchange.ts'
import { injectTarget } from '../../src/contract-test/targets/inject-target.ts'
import { urlTarget } from '../../src/contract-test/targets/url-target.ts'
import { documentOf, testApplication } from './test-application.ts'

const name = { type: 'string', maxLength: 20 }
const named = { type: 'object', required: ['name'], properties: { name } }
const done = { 200: { description: 'ok', content: { 'application/json': { schema: { type: 'object' } } } } }
const document = {
  ...documentOf(
    {
      '/names': {
        get: { operationId: 'getNames', parameters: [{ name: 'q', in: 'query', schema: name }], responses: done },
        post: {
          operationId: 'addName',
          parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: named }, 'multipart/form-data': { schema: named } },
          },
          responses: done,
        },
      },
    },
    { securitySchemes: { user: { type: 'http', scheme: 'basic' }, key: { type: 'apiKey', in: 'query', name: 'key' } } },
  ),
  security: [{ user: [], key: [] }],
}

/** Returns an application that takes each request with the right credentials. */
function application(t: Test): FastifyInstance {
  const app = Fastify()
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, _body, done) => done(null, {}))
  app.addHook('onRequest', async function authenticate({ headers, query }, reply) {
    const isRight = headers.authorization === `Basic ${btoa('user:right')}` && Object(query).key === 'right'
    return isRight ? undefined : reply.code(401).header('www-authenticate', 'Basic').send({})
  })
  app.get('/names', () => ({}))
  app.post('/names', () => ({}))
  t.teardown(() => app.close())
  return app
}

/** Returns all that a request has, with a text for each key. */
const textOf = ({ method, target, headers, body }: TestRequest, keys: string[]): string => {
  const { 'idempotency-key': key, ...others } = headers
  if (key !== undefined) keys.push(key)
  return JSON.stringify([method, target, key && 'key', others, body && Buffer.from(body).toString('hex')])
}

/** Returns the requests of a run with a seed, and their keys. */
async function requestsOf(t: Test, seed: number, targetOf: (app: FastifyInstance) => Target | Promise<Target>) {
  const app = application(t)
  const target = await targetOf(app)
  const sent: string[] = []
  const keys: string[] = []
  const recorded: Target = {
    ...target,
    send(request) {
      sent.push(textOf(request, keys))
      return target.send(request)
    },
    async sendCut(request, length) {
      sent.push(`${length} bytes of ${textOf(request, keys)}`)
      await target.sendCut?.(request, length)
    },
  }
  const credentials = requestCredentials(document, { user: 'user:right', key: 'right' }, seed)
  await testApplication(app, document, { seed, requests: 120, target: recorded, credentials })
  await target.close()
  return { sent, keys }
}

const targets: Record<string, (app: FastifyInstance) => Target | Promise<Target>> = {
  'in process': (app) => injectTarget(app, { listen: true }),
  'at a URL': async (app) => urlTarget(await app.listen({ host: '127.0.0.1', port: 0 })),
}

for (const [where, targetOf] of Object.entries(targets))
  t.test(`two runs with the same seed send the same bytes ${where}, apart from idempotency keys`, async (t) => {
    const first = await requestsOf(t, 7, targetOf)
    const second = await requestsOf(t, 7, targetOf)
    t.same(second.sent, first.sent)
    t.ok(
      first.sent.some((text) => text.includes(' bytes of ')),
      'a request is cut off',
    )
    t.ok(first.keys.length > 0)
    t.notOk(
      second.keys.some((key) => key.length === 36 && first.keys.includes(key)),
      'a server may remember keys',
    )
    t.notSame((await requestsOf(t, 8, targetOf)).sent, first.sent)
  })
