import Fastify from 'fastify'
import t from 'tap'
import { documentOf, testApplication } from '../test-application.ts'

const thing = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', maxLength: 9 }, made: { type: 'integer', minimum: 1, readOnly: true } },
}
const content = { 'application/json': { schema: thing } }
const responses = { 200: { description: 'ok', content }, 400: { description: 'The request is invalid.' } }
const view = { name: 'view', in: 'query', required: true, schema: { enum: ['short'] } }
const document = documentOf({
  '/thing': {
    get: { operationId: 'getThing', parameters: [view], responses: { 200: responses[200] } },
    put: { operationId: 'putThing', requestBody: { required: true, content }, responses },
  },
})

t.test('a GET after a write has the parameters that it requires itself', async (t) => {
  let one: object = { name: 'a', made: 1 }
  const app = Fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false, strict: false } } })
  app.get('/thing', ({ query }, reply) => (Object(query).view === 'short' ? one : reply.code(400).send()))
  app.put('/thing', { schema: { body: thing } }, ({ body }) => {
    one = { made: 1, ...(body as object) }
    return one
  })
  const { failures } = await testApplication(app, document)
  t.match(
    failures.map(({ check, operation }) => `${check} ${operation.operationId}`),
    ['keeps-read-only getThing'],
  )
})
