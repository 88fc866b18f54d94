// fastify-openapi-glue by its README. The error handler is added because Fastify's error bodies do not match the
// document.
import Fastify, { type FastifyError, type FastifyRequest } from 'fastify'
import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
import { exactList, host, isAuthorized, list, type Plant, paths, port, store } from './work.ts'

const createPlant = async (request: FastifyRequest) => {
  const { id, name, tag } = request.body as Plant
  if (!store({ id, name, tag })) throw Object.assign(new Error('the id belongs to another plant'), { statusCode: 409 })
  return { name, tag }
}

const serviceHandlers = {
  createPlant,
  ...Object.fromEntries(paths.map((_, n) => [`create${n}`, createPlant])),
  countBatch: async ({ body }: FastifyRequest) => ({ count: (body as Plant[]).length }),
  listPlants: async () => list,
  listExactPlants: async () => exactList,
}

class Security {
  async bearer({ headers }: FastifyRequest) {
    if (!isAuthorized(headers.authorization)) throw new Error('the access token is not valid')
  }
}

const app = Fastify({ bodyLimit: 262_144 })

app.setErrorHandler((cause: FastifyError, _request, reply) => {
  const { statusCode = 500, message } = cause
  return reply.code(statusCode).send({ error: statusCode * 100, message })
})

app.register(fastifyOpenapiGlue, {
  specification: String(process.env.DOCUMENT),
  serviceHandlers,
  securityHandlers: new Security(),
})

await app.listen({ host, port })
