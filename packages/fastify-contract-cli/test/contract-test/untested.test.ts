import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import t, { type Test } from 'tap'
import { contractTest } from '../../src/contract-test/contract-test.ts'
import { testedNothing } from '../../src/contract-test/results.ts'
import { documentOf, testApplication } from './test-application.ts'

const json = { description: 'ok', content: { 'application/json': { schema: { type: 'object' } } } }
const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }]
const errors = { 404: { description: 'none' }, 400: { description: 'invalid' } }
const document = documentOf({
  '/things/{id}': { get: { operationId: 'getThing', parameters, responses: { 200: json, ...errors } } },
})

/** Returns an application that responds to each request for a thing as a function does. */
function serving(t: Test, respond: (reply: FastifyReply) => unknown): FastifyInstance {
  const app = Fastify()
  app.get('/things/:id', (request, reply) => {
    const { id } = request.params as { id: string }
    return /^-?\d+$/.test(id) ? respond(reply) : reply.code(400).send({ text: 'invalid' })
  })
  t.teardown(() => app.close())
  return app
}

t.test('an operation of the engine that responds with 501 is not written yet, which is no failure', async (t) => {
  const app = serving(t, (reply) => reply.code(501).send({}))
  const own = await testApplication(app, document, { isOwn: true })
  t.match(own, { failures: [], operations: [{ untested: 'it is not written yet: it responds with 501' }] })
  const other = await testApplication(
    serving(t, (reply) => reply.code(501).send({})),
    document,
  )
  t.match(other.failures, [{ check: 'no-server-error', got: 'status 501' }])
})

t.test('501 is a failure of an operation that accepted a request before', async (t) => {
  let sent = 0
  const app = serving(t, (reply) => reply.code(sent++ === 0 ? 200 : 501).send({}))
  const { failures } = await testApplication(app, document, { isOwn: true })
  t.match(
    failures.filter(({ check }) => check === 'no-server-error'),
    [{ got: 'status 501' }],
  )
})

t.test('the engine may send any body with an error whose content the document leaves open', async (t) => {
  const { failures } = await testApplication(
    serving(t, (reply) => reply.send({})),
    document,
    { isOwn: true },
  )
  t.same(
    failures.filter(({ check }) => check === 'documented-media-type'),
    [],
  )
})

t.test('a test fails if an operation is not written yet, and each other one rejects all requests', async (t) => {
  const two = {
    ...document,
    paths: { ...document.paths, '/others': { get: { operationId: 'getOthers', responses: {} } } },
  }
  const untestedOf = async (status: number) => {
    const app = serving(t, (reply) => reply.code(501).send({}))
    app.get('/others', (_, reply) => reply.code(status).send({}))
    return testedNothing(
      await testApplication(app, two, { isOwn: true, off: { '*': { 'documented-status': 'none' } } }),
    )
  }
  t.equal(await untestedOf(404), true)
  t.equal(await untestedOf(501), false)
})

t.test('a test fails if no operation accepts a request', async (t) => {
  const app = serving(t, (reply) => reply.code(404).send())
  await t.rejects(contractTest(app, { document }), {
    message: 'nothing was tested\ngetThing is not tested: no valid request got a status below 400, only 404',
  })
})
