import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { documentOf, testApplication } from '../test-application.ts'

const text = { type: 'string', maxLength: 20, example: 'abc' }
const content = { 'application/json': { schema: text } }
const headers = { ETag: { schema: { type: 'string' } } }
const document = documentOf({
  '/note': {
    get: {
      operationId: 'getNote',
      responses: { 200: { description: 'The note.', headers, content }, 304: { description: 'It is known.' } },
    },
    put: {
      operationId: 'putNote',
      requestBody: { required: true, content },
      responses: {
        204: { description: 'Done.', headers },
        400: { description: 'The request is invalid.' },
        412: { description: 'The note has changed.' },
        415: { description: 'The body is no JSON.' },
      },
    },
  },
})

/** What a faulty application does otherwise. */
type Fault = 'no 304' | 'no 412' | 'always 412' | 'no tag'

function application(fault?: Fault): FastifyInstance {
  const app = Fastify({ ajv: { customOptions: { coerceTypes: false, strict: false } } })
  let note = 'first'
  let version = 1
  const etag = () => `"v${version}"`
  app.get('/note', (request, reply) => {
    if (fault !== 'no tag') reply.header('etag', etag())
    if (request.headers['if-none-match'] === etag() && fault !== 'no 304') return reply.code(304).send()
    return reply.type('application/json').send(JSON.stringify(note))
  })
  app.put('/note', { schema: { body: text } }, (request, reply) => {
    const given = request.headers['if-match']
    if (given !== undefined && fault !== 'no 412' && (given !== etag() || fault === 'always 412'))
      return reply.code(412).send()
    note = request.body as string
    version++
    return reply.code(204).header('etag', etag()).send()
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
    reply.code(error.statusCode ?? 500).send(),
  )
  return app
}

const failuresOf = async (fault?: Fault) => {
  const { failures } = await testApplication(application(fault), document)
  return failures.filter(({ check }) => check === 'conditional-requests').map(({ expected }) => expected)
}

t.test('a server that evaluates preconditions passes, and so does one without tags', async (t) => {
  t.same(await failuresOf(), [])
  t.same(await failuresOf('no tag'), [])
})

t.test('a server that ignores preconditions, or never accepts one, fails', async (t) => {
  t.same(await failuresOf('no 304'), ['status 304 for the ETag of the last response'])
  t.same(await failuresOf('no 412'), ['status 412 for an ETag that the resource does not have'])
  t.same(await failuresOf('always 412'), ['no 412 for the ETag of a GET of the same path'])
})
