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
    const isCurrent = given === etag() || given === '*'
    if (given !== undefined && fault !== 'no 412' && (!isCurrent || fault === 'always 412'))
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

t.test('the GET for a tag has what it requires itself', async (t) => {
  const required = [
    { name: 'view', in: 'query', required: true, schema: { enum: ['short'] } },
    { name: 'X-View', in: 'header', required: true, schema: { enum: ['plain'] } },
  ]
  const { '/note': note } = document.paths as Record<string, { get: object; put: object }>
  const strict = documentOf({ '/note': { get: { ...note?.get, parameters: required }, put: note?.put } })
  const app = application('always 412')
  app.addHook('onRequest', async function checkView({ method, query, headers }, reply) {
    const isGiven = Object(query).view === 'short' && headers['x-view'] === 'plain'
    return method === 'GET' && !isGiven ? reply.code(400).send() : undefined
  })
  const { failures } = await testApplication(app, strict)
  t.same(
    failures.filter(({ check }) => check === 'accepts-valid'),
    [],
  )
  const found = failures.filter(({ check }) => check === 'conditional-requests').map(({ expected }) => expected)
  t.same(found, ['no 412 for the ETag of a GET of the same path'])
})

t.test('writes that require a precondition have one, so that they are accepted', async (t) => {
  const { '/note': note } = document.paths as Record<string, { get: object; put: { responses: object } }>
  const responses = { ...note?.put.responses, 428: { description: 'A precondition is required.' } }
  const strict = documentOf({ '/note': { get: note?.get, put: { ...note?.put, responses } } })
  const tested = async (fault?: Fault) => {
    const app = application(fault)
    app.addHook('onRequest', async function requirePrecondition({ method, headers }, reply) {
      const isMissing = method === 'PUT' && headers['if-match'] === undefined
      return isMissing ? reply.code(428).send() : undefined
    })
    const { failures, operations } = await testApplication(app, strict)
    t.same(
      operations.map(({ untested }) => untested),
      [undefined, undefined],
    )
    return failures.map(({ check, expected }) => `${check}: ${expected}`)
  }
  t.same(await tested(), [])
  t.same(await tested('no 412'), ['conditional-requests: status 412 for an ETag that the resource does not have'])
})
