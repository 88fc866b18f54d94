// One handwritten route with handwritten schemas.
import Fastify from 'fastify'
import { host, keep, port } from './shared.js'

const properties = { name: { type: 'string' }, tag: { type: 'string' } }
const plant = { type: 'object', required: ['name'], properties }
const newPlant = { type: 'object', required: ['id', 'name'], properties: { id: { type: 'integer' }, ...properties } }
const error = {
  type: 'object',
  required: ['error', 'message'],
  properties: { error: { type: 'integer' }, message: { type: 'string' } },
}

export const refusal = (statusCode, message) => Object.assign(new Error(message), { statusCode })

/** Starts the server after `secure` has added a check of the token to the app. */
export async function servePlants(secure) {
  const app = Fastify()
  app.setErrorHandler((cause, _request, reply) => {
    const { statusCode = 500, message } = cause
    return reply.code(statusCode).send({ error: statusCode * 100, message })
  })
  await secure(app)
  app.post('/plants', { schema: { body: newPlant, response: { 200: plant, '4xx': error } } }, async ({ body }) => {
    if (!keep(body)) throw refusal(409, 'the id belongs to another plant')
    return { name: body.name, tag: body.tag }
  })
  await app.listen({ host, port })
}
