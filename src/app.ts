import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance } from 'fastify'
import {
  type BearerAuth,
  bearerHook,
  type Contract,
  createServer,
  operationResolver,
  type ServerOptions,
  type VerifyToken,
} from 'fastify-contract'
import openapiGlue from 'fastify-openapi-glue'
import type { Handlers } from '../generated/handler-types.d.ts'
import { errorBody } from './error-body.ts'
import { handlers } from './handlers.ts'
import type { PlantOperations } from './store/plant-store.ts'

/** The options of createApp: what the plant store needs, and other options of `createServer`. */
export type AppOptions = Omit<
  ServerOptions<Handlers>,
  'contract' | 'handlers' | 'verifiers' | 'errorBody' | 'realm'
> & {
  contract: Contract
  store: PlantOperations
  verifyToken: VerifyToken
}

/** Returns the service as one Fastify instance, which does not listen yet. The caller must close the store. */
export const createApp = ({ store, verifyToken, plugins, ...options }: AppOptions): FastifyInstance =>
  createServer<Handlers>({
    ...options,
    handlers: handlers(store),
    verifiers: { bearer: bearerHook(verifyToken, registerBearerAuth) },
    errorBody,
    realm: 'plant-store',
    plugins(app) {
      plugins?.(app)
      app.register(openapiGlue, {
        specification: JSON.parse(options.contract.documentText),
        operationResolver: operationResolver(app),
      })
    },
  })

/** Registers @fastify/bearer-auth, and returns its hook, which verifies the token of a request by `auth`. */
async function registerBearerAuth(app: FastifyInstance, auth: BearerAuth) {
  await app.register(bearerAuth, {
    keys: new Set<string>(),
    auth,
    // Scheme names are case-insensitive (RFC 9110), but the default rfc6750 compares them exactly.
    specCompliance: 'rfc6749',
    // A rejected request is not an error of the service.
    verifyErrorLogLevel: 'debug',
    // Only operations with the scheme need a token, so their routes call the hook.
    addHook: false,
  })
  return app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>
}
