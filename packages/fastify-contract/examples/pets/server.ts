import compress from '@fastify/compress'
import cookie from '@fastify/cookie'
import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'
import { bearer, createServer, requestContext, type ServerOptions, type VerifyToken } from 'fastify-contract'
import { errorBody } from './error-body.ts'
import type { Handlers } from './generated/handler-types.d.ts'
import { type Database, handlers } from './handlers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The tenant of the authenticated client. */
    tenant: string
  }
}

type Options = Pick<ServerOptions<Handlers>, 'contract' | 'limits'> &
  Partial<Pick<ServerOptions<Handlers>, 'log'>> & { database: Database; verifyToken: VerifyToken }

/** Returns the server, which does not listen yet. */
export function createPets({ database, verifyToken, ...options }: Options): FastifyInstance {
  const app = createServer<Handlers>({
    ...options,
    handlers: handlers(database),
    verifiers: { token: bearer(verifyToken) },
    errorBody,
    // It adds a hook to each route, so it must see the operations.
    plugins: (app) => app.register(compress, { threshold: 100 }),
  })
  app.register(helmet)
  app.register(cookie)
  app.decorateRequest('tenant', '')
  // An onRequest hook would run before authentication.
  app.addHook('preHandler', async (request, reply) => {
    const { client, operation } = requestContext(request)
    request.tenant = client?.name ?? ''
    if (operation === 'addPet') reply.setCookie('added', 'yes', { httpOnly: true })
  })
  return app
}
