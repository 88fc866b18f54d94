// One route, its schemas and its check of the token written by hand.
import Fastify from 'fastify'
import { host, isAccepted, keep, port } from './shared.js'

const properties = { name: { type: 'string' }, tag: { type: 'string' } }
const plant = { type: 'object', required: ['name'], properties }
const newPlant = { type: 'object', required: ['id', 'name'], properties: { id: { type: 'integer' }, ...properties } }
const error = {
  type: 'object',
  required: ['error', 'message'],
  properties: { error: { type: 'integer' }, message: { type: 'string' } },
}

const app = Fastify()

app.setErrorHandler((cause, _request, reply) => {
  const { statusCode = 500, message } = cause
  return reply.code(statusCode).send({ error: statusCode * 100, message })
})

const refusal = (statusCode, message) => Object.assign(new Error(message), { statusCode })

app.post(
  '/plants',
  {
    schema: { body: newPlant, response: { 200: plant, '4xx': error } },
    onRequest: async ({ headers }) => {
      if (!isAccepted(headers.authorization)) throw refusal(401, 'the access token is not valid')
    },
  },
  async ({ body }) => {
    if (!keep(body)) throw refusal(409, 'the id belongs to another plant')
    return { name: body.name, tag: body.tag }
  },
)

await app.listen({ host, port })
