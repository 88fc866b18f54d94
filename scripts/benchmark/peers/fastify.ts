// Handwritten routes with handwritten schemas. BEARER_AUTH=on checks the token with @fastify/bearer-auth, set up as in
// its README. QUEUE=on writes responses after all reads of the event loop's turn, as the service does.
import bearerAuth from '@fastify/bearer-auth'
import Fastify, { type FastifyError, type FastifyRequest } from 'fastify'
import { exactList, host, isAuthorized, list, type Plant, paths, port, store } from './work.ts'

const text = { type: 'string' }
const id = { type: 'integer' }
const object = (properties: object, required: string[]) => ({ type: 'object', required, properties })
// Each route has schemas of its own, as the operations of the document have: Ajv compiles a shared one only once.
const plant = () => object({ name: text, tag: text }, ['name'])
const newPlant = () => object({ id, name: text, tag: text }, ['id', 'name'])
const item = object({ id, name: text, tag: text, height: { type: 'number' }, note: text }, [
  'id',
  'name',
  'height',
  'note',
])
const error = object({ error: { type: 'integer' }, message: text }, ['error', 'message'])
const listed = {
  querystring: object({ after: { type: 'integer' } }, ['after']),
  response: { 200: { type: 'array', items: newPlant() }, '4xx': error },
}

const refusal = (statusCode: number, message: string) => Object.assign(new Error(message), { statusCode })

let turn: Promise<void> | undefined
/** Returns a promise that resolves when the event loop has read from all connections. */
const endOfTurn = () =>
  (turn ??= new Promise<void>((resolve) => {
    setImmediate(() => {
      turn = undefined
      resolve()
    })
  }))

const app = Fastify({ bodyLimit: 262_144 })

app.setErrorHandler((cause: FastifyError, _request, reply) => {
  const { statusCode = 500, message } = cause
  reply.code(statusCode).send({ error: statusCode * 100, message })
})

if (process.env.BEARER_AUTH === 'on') {
  await app.register(bearerAuth, {
    keys: new Set([String(process.env.ACCESS_TOKENS)]),
    // Its type allows only a string, but the document says that the error is a number.
    errorResponse: (({ message }: Error) => ({ error: 40_100, message })) as never,
  })
} else {
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (isAuthorized(headers.authorization)) done()
    else done(refusal(401, 'the access token is not valid'))
  })
}

const create = (request: FastifyRequest) => {
  const { id, name, tag } = request.body as Plant
  if (!store({ id, name, tag })) throw refusal(409, 'the id belongs to another plant')
  return { name, tag }
}

for (const path of paths)
  app.post(path, {
    schema: { body: newPlant(), response: { 200: plant(), '4xx': error } },
    handler:
      process.env.QUEUE === 'on'
        ? async (request) => {
            await endOfTurn()
            return create(request)
          }
        : async (request) => create(request),
  })
app.post('/batches', {
  schema: { body: { type: 'array', items: item }, response: { 200: object({ count: id }, ['count']), '4xx': error } },
  handler: async ({ body }) => ({ count: (body as Plant[]).length }),
})
app.get('/lists', { schema: listed, handler: async () => list })
app.get('/exact-lists', { schema: listed, handler: async () => exactList })

await app.listen({ host, port })
