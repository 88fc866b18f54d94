import type { FastifyInstance } from 'fastify'
import { type AnyErrorBody, type AnyHandler, createServer, type Limits, type ServerOptions } from 'fastify-contract'
import type { Routes } from 'fastify-contract/contract'
import { evaluateSchemaCode, schemaCode } from 'fastify-contract/schema'
import { type DestinationStream, pino } from 'pino'
import type { Document } from '../../src/document/openapi-document.ts'
import { compileRoutes } from '../../src/testing.ts'

export { compileRoutes }

/** Creates error bodies with a number and a message. */
export const errorBody: AnyErrorBody = ({ error, message }) => ({
  contentType: 'application/json',
  body: { error, message },
})

export type Served = Partial<Omit<ServerOptions<unknown>, 'contract' | 'handlers' | 'errorBody' | 'log'>> & {
  handlers?: Record<string, AnyHandler>
  errorBody?: AnyErrorBody
  limits?: Partial<Limits>
  logger?: { level: string; stream: DestinationStream }
}

/** Generates routes from a document in memory and serves them as serveRoutes does. */
export const serveDocument = async (document: Document, options?: Served): Promise<FastifyInstance> =>
  serveRoutes(compileRoutes(document), options)

/** Returns a server for operations that does not listen yet. */
export function serveRoutes(routes: Routes, options: Served = {}): FastifyInstance {
  const { logger, ...others } = options
  return createServer<unknown>({
    contract: { routes, schemaCode: evaluateSchemaCode(schemaCode(routes)) },
    handlers: {},
    verifiers: {},
    realm: 'plant-store',
    errorBody,
    ...others,
    // The tests share one machine.
    limits: { body: 1_048_576, authFailures: 0, eventLoopDelay: 60_000, ...options.limits },
    ...(logger && { log: pino({ level: logger.level }, logger.stream) }),
  } as ServerOptions<unknown>)
}
