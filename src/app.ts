import type { FastifyInstance } from 'fastify'
import { bearer, createServer, type ServerOptions, type VerifyToken } from 'fastify-contract'
import type { operations } from '../generated/api.d.ts'
import { errorBody } from './error-body.ts'
import { handlers } from './handlers.ts'
import type { PlantOperations } from './store/plant-store.ts'

/** The options of createApp: what the plant store needs, and other options of `createServer`. */
export type AppOptions = Omit<ServerOptions<operations>, 'handlers' | 'verifiers' | 'errorBody' | 'realm'> & {
  store: PlantOperations
  verifyToken: VerifyToken
}

/** Returns the service as one Fastify instance, which does not listen yet. The caller must close the store. */
export const createApp = ({ store, verifyToken, ...options }: AppOptions): FastifyInstance =>
  createServer<operations>({
    ...options,
    handlers: handlers(store),
    verifiers: { bearer: bearer(verifyToken) },
    errorBody,
    realm: 'plant-store',
  })
