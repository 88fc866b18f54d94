import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import type { Credentials, TestRequest } from '../../../src/contract-test/exchange.ts'
import { documentOf, testApplication } from '../test-application.ts'

const json = (schema: object) => ({ description: 'ok', content: { 'application/json': { schema } } })
const text = { type: 'string', maxLength: 20, example: 'abc' }
const thing = {
  type: 'object',
  required: ['name', 'count'],
  properties: { name: text, count: { type: 'integer', format: 'int32', example: 7 } },
}
const problem = { type: 'object', properties: { message: { type: 'string' } } }

/** A document with one GET, and one POST with a body. */
const paths = {
  '/things': {
    get: {
      operationId: 'getThings',
      parameters: [{ name: 'size', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 10 }, example: 3 }],
      responses: {
        200: {
          ...json({ type: 'array', items: thing }),
          headers: { 'X-Total': { required: true, schema: { type: 'integer' } } },
        },
        400: json(problem),
      },
    },
    post: {
      operationId: 'makeThing',
      requestBody: { required: true, content: { 'application/json': { schema: thing } } },
      responses: { 201: json(thing), 400: json(problem) },
    },
  },
}
const document = documentOf(paths)

type Thing = { name: string; count: number }
type Service = { things: Thing[] }

/** Changes of a right application that make it faulty. */
type Fault = (app: FastifyInstance, service: Service) => void

/** Returns an application that does what the document says, after a fault has had its way. */
function application(fault: Fault = () => {}): FastifyInstance {
  const app = Fastify({ ajv: { customOptions: { coerceTypes: false, strict: false } }, exposeHeadRoutes: true })
  const service: Service = { things: [{ name: 'first', count: 1 }] }
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
    reply.code(error.statusCode ?? 500).send({ message: error.message }),
  )
  fault(app, service)
  if (!app.hasRoute({ method: 'GET', url: '/things' }))
    app.get('/things', (request, reply) => {
      const { size } = request.query as { size?: string }
      if (size !== undefined && !/^([1-9]|10)$/.test(size)) return reply.code(400).send({ message: 'size' })
      return reply.header('x-total', 1).send(service.things)
    })
  if (!app.hasRoute({ method: 'POST', url: '/things' }))
    app.post('/things', { schema: { body: thing } }, (request, reply) => {
      const { name, count } = request.body as Thing
      return reply.code(201).send({ name, count })
    })
  return app
}

t.test('a right application fails no check', async (t) => {
  const { failures, checks: counts, operations, end } = await testApplication(application(), document)
  t.same(failures, [])
  t.same(
    operations.map(({ untested }) => untested),
    [undefined, undefined],
  )
  t.equal(end, 'requests')
  t.ok(counts.some(({ check, looked }) => check === 'valid-body' && looked > 100))
})

const orNull = { anyOf: [{ type: 'integer' }, { type: 'null' }] }
const either = { anyOf: [{ type: 'object', properties: { orNull } }, { type: 'string' }] }
const lax = { type: 'object', properties: { count: { type: 'integer' }, any: {}, orNull, either } }
const laxDocument = documentOf({ '/lax': { get: { operationId: 'getLax', responses: { 200: json(lax) } } } })

const accepted: Record<string, string> = {
  'an integer beyond 2^53': '{"count":9007199254740993}',
  'an integer beyond 2^53 for one of several types': '{"orNull":9007199254740993}',
  'one in an alternative': '{"either":{"orNull":9007199254740993}}',
  'a number that a double rounds': '{"any":9007199254740993}',
  'a deep value': `{"any":${'['.repeat(200)}${']'.repeat(200)}}`,
  'a duplicate name': '{"any":1,"any":2}',
}
for (const [title, body] of Object.entries(accepted))
  t.test(`another server may send ${title}`, async (t) => {
    const app = Fastify()
    app.get('/lax', (_, reply) => reply.type('application/json').send(body))
    t.same((await testApplication(app, laxDocument, { requests: 5 })).failures, [])
  })

t.test('another server may not send an integer of a wrong type beside a large one', async (t) => {
  const app = Fastify()
  app.get('/lax', (_, reply) => reply.type('application/json').send('{"count":"x","any":9007199254740993}'))
  t.match((await testApplication(app, laxDocument, { requests: 5 })).failures, [{ check: 'valid-body' }])
})

t.test('a response of a rate limit is not compared', async (t) => {
  const app = Fastify()
  app.get('/lax', ({ headers }, reply) => (headers.authorization ? reply.send({}) : reply.code(429).send('slow down')))
  const withToken = (request: TestRequest) => ({ ...request, headers: { ...request.headers, authorization: 'x' } })
  const credentials: Credentials = {
    accepted: withToken,
    rejected: (request) => [{ request, status: 401, reason: 'without credentials' }],
  }
  t.same((await testApplication(app, laxDocument, { requests: 20, credentials })).failures, [])
})

const faults: Record<string, { check: string; fault: Fault }> = {
  'a handler that throws': {
    check: 'no-server-error',
    fault: (app) =>
      app.get('/things', () => {
        throw new Error('x')
      }),
  },
  'an unlisted status': {
    check: 'documented-status',
    fault: (app) => app.get('/things', (_, reply) => reply.code(203).send([])),
  },
  'another media type': {
    check: 'documented-media-type',
    fault: (app) => app.get('/things', (_, reply) => reply.header('x-total', 1).type('text/plain').send('[]')),
  },
  'a missing header': { check: 'documented-headers', fault: (app) => app.get('/things', (_, reply) => reply.send([])) },
  'a header of another type': {
    check: 'documented-headers',
    fault: (app) => app.get('/things', (_, reply) => reply.header('x-total', 'many').send([])),
  },
  'a body without a property': {
    check: 'valid-body',
    fault: (app) => app.get('/things', (_, reply) => reply.header('x-total', 1).send([{ name: 'a' }])),
  },
  'an integer beyond int64': {
    check: 'valid-body',
    fault: (app) =>
      app.get('/things', (_, reply) =>
        reply.header('x-total', 1).type('application/json').send('[{"name":"a","count":9223372036854775808}]'),
      ),
  },
  'a body that is no JSON': {
    check: 'valid-body',
    fault: (app) => app.get('/things', (_, reply) => reply.header('x-total', 1).type('application/json').send('[')),
  },
  'no validation of a parameter': {
    check: 'rejects-invalid',
    fault: (app) => app.get('/things', (_, reply) => reply.header('x-total', 1).send([])),
  },
  'no validation of a body': {
    check: 'rejects-invalid',
    fault: (app) => app.post('/things', (_, reply) => reply.code(201).send({ name: 'a', count: 1 })),
  },
  'a bound that is one too low': {
    check: 'accepts-valid',
    fault: (app) =>
      app.get('/things', (request, reply) => {
        const { size } = request.query as { size?: string }
        if (size !== undefined && !/^[1-9]$/.test(size)) return reply.code(400).send({ message: 'size' })
        return reply.header('x-total', 1).send([])
      }),
  },
  'another method that is served': { check: 'unknown-method', fault: (app) => app.patch('/things', () => 'ok') },
  'a 405 without Allow': {
    check: 'unknown-method',
    fault: (app) => app.patch('/things', (_, reply) => reply.code(405).send()),
  },
  'another status for HEAD': {
    check: 'head-as-get',
    fault: (app) => app.head('/things', (_, reply) => reply.code(204).send()),
  },
  'a GET that changes what the next one reads': {
    check: 'repeated-get',
    fault: (app, service) =>
      app.addHook('onSend', async ({ method }) => {
        if (method === 'GET' && service.things.length < 4) service.things.push({ name: 'more', count: 1 })
      }),
  },
  'a rejected request that is stored': {
    check: 'rejection-changes-nothing',
    fault: (app, { things }) =>
      app.post('/things', (request, reply) => {
        const { name, count } = Object(request.body) as Thing
        things.push({ name: 'x', count: 1 })
        if (typeof name !== 'string' || typeof count !== 'number') return reply.code(400).send({ message: 'body' })
        return reply.code(201).send({ name, count })
      }),
  },
  'a handler that blocks the event loop': {
    check: 'event-loop-gap',
    fault: (app) =>
      app.addHook('onRequest', async () => {
        for (const end = performance.now() + 60; performance.now() < end; );
      }),
  },
}

for (const [title, { check, fault }] of Object.entries(faults))
  t.test(`${title} fails ${check}`, async (t) => {
    const { failures } = await testApplication(application(fault), document, {
      requests: 150,
      ...(check === 'event-loop-gap' && { maxGap: 50, requests: 10 }),
    })
    t.ok(
      failures.some((one) => one.check === check),
      JSON.stringify(failures.map(({ check, expected, got }) => [check, expected, got])),
    )
  })
