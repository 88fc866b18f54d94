import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { serveDocument } from '../../support/serve-document.ts'
import { documentOf, testApplication } from '../test-application.ts'

const id = { type: 'integer' }
const thing = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 20 }, id } }
const json = { description: 'ok', content: { 'application/json': { schema: thing } } }
const problem = { description: 'no', content: { 'application/json': { schema: { type: 'object' } } } }

/** A document with an operation that has idempotency keys. */
const documentWith = (schema: object) =>
  documentOf({
    '/things': {
      post: {
        operationId: 'make',
        parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema }],
        requestBody: { required: true, content: { 'application/json': { schema: thing } } },
        responses: { 201: json, default: problem },
      },
    },
  })

const document = documentWith({ type: 'string', minLength: 1 })

/** Returns a server of the engine. */
async function ownApplication(options: object = {}, of = document): Promise<FastifyInstance> {
  let last = 0
  const make = async ({ body }: { body: { name: string } }) => ({ status: 201, body: { name: body.name, id: ++last } })
  return await serveDocument(of, { handlers: { make: make as never }, ...options })
}

/** Returns the failures of the check, and the statuses of all failures. */
async function failuresOf(t: Test, app: FastifyInstance, isOwn: boolean, of = document) {
  t.teardown(() => app.close())
  const { failures } = await testApplication(app, of, { requests: 100, isOwn })
  return failures.map(({ check, expected }) => `${check}: ${expected}`)
}

t.test('a server that keeps responses for their keys passes repeated-key', async (t) => {
  t.same(await failuresOf(t, await ownApplication(), true), [])
  t.same(await failuresOf(t, await ownApplication(), false), [])
})

t.test('a server that ignores keys fails repeated-key', async (t) => {
  const failures = await failuresOf(t, await ownApplication({ idempotency: false }), false)
  t.match(failures, [/^repeated-key: the response to the first request with the key: body\/id/])
})

t.test('a server of this engine that does not mark the response fails repeated-key', async (t) => {
  const app = Fastify()
  app.post('/things', (request, reply) => {
    const { name } = Object(request.body) as { name?: string }
    return reply.code(typeof name === 'string' && name.length <= 20 ? 201 : 400).send({ name })
  })
  t.ok((await failuresOf(t, app, true)).includes('repeated-key: the header Idempotent-Replayed: true'))
})

t.test('keys of a pattern are sent as they are generated, and are not repeated', async (t) => {
  const patterned = documentWith({ type: 'string', pattern: '^[a-c]{9}$' })
  t.notMatch(await failuresOf(t, await ownApplication({}, patterned), true, patterned), ['repeated-key'])
})
