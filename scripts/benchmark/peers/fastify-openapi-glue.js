// Set up as in the README of the package. The error handler is added because Fastify's error bodies do not match the
// document.
import Fastify from 'fastify'
import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
import { host, isAccepted, keep, port } from './shared.js'

class Service {
  async createPlant({ body }) {
    if (!keep(body)) throw Object.assign(new Error('the id belongs to another plant'), { statusCode: 409 })
    return { name: body.name, tag: body.tag }
  }
}

class Security {
  async bearer({ headers }) {
    if (!isAccepted(headers.authorization)) throw new Error('the access token is not valid')
  }
}

const app = Fastify()

app.setErrorHandler((cause, _request, reply) => {
  const { statusCode = 500, message } = cause
  return reply.code(statusCode).send({ error: statusCode * 100, message })
})

app.register(fastifyOpenapiGlue, {
  specification: process.env.DOCUMENT,
  serviceHandlers: new Service(),
  securityHandlers: new Security(),
})

await app.listen({ host, port })
