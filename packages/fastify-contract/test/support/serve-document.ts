import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { VerifierContext, VerifierFactory, Verifiers } from '../../src/auth/verifiers.ts'
import { asOpenApi31, normalizedDocument } from '../../src/compile/document/normalize.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { routesOf } from '../../src/compile/emit/route-schemas.ts'
import { unsupportedFeatures } from '../../src/compile/rules/unsupported-features.ts'
import { serverOptions } from '../../src/http/request-guards.ts'
import type { Routes } from '../../src/serve/contract.ts'
import type { AnyErrorBody } from '../../src/serve/error-writer.ts'
import { type Binding, registerOperations } from '../../src/serve/register-operations.ts'

/** Creates error bodies with a number and a message. */
export const errorBody: AnyErrorBody = ({ error, message }) => ({
  contentType: 'application/json',
  body: { error, message },
})

/** Returns the routes of a document, without linting it. Throws the list of its unsupported features. */
export function compileRoutes(document: Document) {
  const problems = unsupportedFeatures(asOpenApi31(document))
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return routesOf(normalizedDocument(document))
}

/** Verifiers, or a function that creates them. */
export type GivenVerifiers = Verifiers | ((context: VerifierContext) => Promise<Verifiers>)

/** What the verifiers of an app share: a realm, and no limit of failures. */
export const verifierContext = (app: FastifyInstance): VerifierContext => ({
  app,
  realm: 'plant-store',
  withinFailureLimit: () => true,
})

/** Returns factories of verifiers that exist already. */
const asFactories = (verifiers: Verifiers): Record<string, VerifierFactory> =>
  Object.fromEntries(Object.entries(verifiers).map(([name, verifier]) => [name, () => verifier]))

export type Served = Partial<Omit<Binding, 'routes' | 'verifiers'>> & {
  verifiers?: GivenVerifiers
  logger?: FastifyServerOptions['logger']
}

/** Generates routes from a document in memory and serves them as serveRoutes does. */
export const serveDocument = async (document: Document, options?: Served): Promise<FastifyInstance> =>
  await serveRoutes(compileRoutes(document), options)

/** Registers operations on a Fastify instance that does not listen yet. */
export async function serveRoutes(routes: Routes, options: Served = {}): Promise<FastifyInstance> {
  const { logger = false, handlers = {}, verifiers: given = {}, ...binding } = options
  const app = Fastify({ ...serverOptions, logger }) as unknown as FastifyInstance
  const verifiers = typeof given === 'function' ? await given(verifierContext(app)) : given
  registerOperations(app, { routes, handlers, verifiers: asFactories(verifiers), errorBody, ...binding })
  return app
}
