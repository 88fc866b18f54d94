import Fastify, { type FastifyInstance, type FastifyServerOptions, LogController } from 'fastify'
import { bearerVerifier } from './auth/bearer.ts'
import type { VerifyToken } from './auth/tokens.ts'
import { bind } from './contract/bind.ts'
import type { Document } from './contract/document.ts'
import { exitOptions } from './contract/exits.ts'
import { handlers } from './handlers.ts'
import type { PlantStore } from './store/plant-store.ts'

export type AppOptions = {
  document: Document
  store: PlantStore
  verifyToken: VerifyToken
  logger: NonNullable<FastifyServerOptions['logger']>
  /** Bytes. */
  bodyLimit?: number
  /** Milliseconds in which the headers of a request, and in which all of it, must have arrived. */
  headersTimeout?: number
  requestTimeout?: number
}

/** Assembles the service on one Fastify instance that does not listen yet; the store stays its caller's to close. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { document, store, verifyToken, logger } = options
  const { bodyLimit = 262_144, headersTimeout = 10_000, requestTimeout = 30_000 } = options
  const app = Fastify({
    ...exitOptions,
    logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    requestTimeout,
    // How often Node looks for requests that are past their time.
    http: { ...exitOptions.http, headersTimeout, connectionsCheckingInterval: Math.min(1_000, headersTimeout) },
  })
  const verifiers = { bearer: await bearerVerifier(app, verifyToken) }
  await bind(app, { document, handlers: handlers(store), verifiers })
  return app
}
