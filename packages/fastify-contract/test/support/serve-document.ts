import type { FastifyInstance } from 'fastify'
import { compileRoutes, type Document } from 'fastify-contract-cli/testing'
import { type DestinationStream, pino } from 'pino'
import type { Verifier, VerifierContext, VerifierFactory, Verifiers } from '../../src/auth/verifiers.ts'
import type { Routes, SchemaCode } from '../../src/contract/routes.ts'
import { type BodyMemory, bodyMemory } from '../../src/http/body-memory.ts'
import { createLoadShedder, defaultLimits, type Limits, type LoadShedder } from '../../src/limits/limits.ts'
import type { AnyErrorBody } from '../../src/response/error-writer.ts'
import { type AnyServerOptions, buildServer } from '../../src/routes/create-server.ts'
import { evaluateSchemaCode, schemaCode } from '../../src/schema/schema-code.ts'

export { compileRoutes }

/** Creates error bodies with a number and a message. */
export const errorBody: AnyErrorBody = ({ error, message }) => ({
  contentType: 'application/json',
  body: { error, message },
})

/** Verifiers, or a function that creates them. */
export type GivenVerifiers = Verifiers | ((context: VerifierContext) => Promise<Verifiers>)

const realm = 'plant-store'

/** What the verifiers of an app share: a realm, no limit of failures, and no trusted proxy. */
export const verifierContext = (app: FastifyInstance): VerifierContext => ({
  app,
  realm,
  withinFailureLimit: () => true,
  countFailure: () => undefined,
  trustProxy: [],
})

/** Returns factories of the verifiers, by the names of the schemes that the operations require. */
function factoriesOf({ operations }: Routes, given: GivenVerifiers): Record<string, VerifierFactory> {
  if (typeof given !== 'function')
    return Object.fromEntries(Object.entries(given).map(([name, verifier]) => [name, () => verifier]))
  let made: Promise<Verifiers> | undefined
  const create = (name: string) => async (context: VerifierContext) => {
    made ??= given(context)
    return (await made)[name] as Verifier
  }
  const names = operations.flatMap(({ security }) => security.flatMap(Object.keys))
  return Object.fromEntries(names.map((name) => [name, create(name)]))
}

export type Served = Partial<Omit<AnyServerOptions, 'contract' | 'verifiers' | 'log'>> & {
  verifiers?: GivenVerifiers
  /** Default: the generated code of the schemas; undefined: none, so that each schema is compiled at its first use. */
  schemaCode?: SchemaCode | undefined
  limits?: Partial<Limits>
  logger?: { level: string; stream: DestinationStream }
  shedder?: LoadShedder
  memory?: BodyMemory
}

/** The tests share one machine. */
export const testLimits: Limits = { ...defaultLimits, body: 1_048_576, authFailures: 0, eventLoopDelay: 60_000 }

/** Generates routes from a document in memory and serves them as serveRoutes does. */
export const serveDocument = async (document: Document, options?: Served): Promise<FastifyInstance> =>
  serveRoutes(compileRoutes(document), options)

/** Returns a server for operations that does not listen yet. */
export function serveRoutes(routes: Routes, options: Served = {}): FastifyInstance {
  const { handlers = {}, verifiers = {}, logger, ...others } = options
  const limits = { ...testLimits, ...options.limits }
  const { shedder = createLoadShedder(limits, () => {}), memory = bodyMemory(limits.bodyMemory, () => {}) } = options
  const log = logger && pino({ level: logger.level }, logger.stream)
  const code = 'schemaCode' in options ? options.schemaCode : evaluateSchemaCode(schemaCode(routes))
  const given = {
    contract: { routes, ...(code !== undefined && { schemaCode: code }) },
    handlers,
    verifiers: factoriesOf(routes, verifiers),
    realm,
    errorBody,
    ...others,
  }
  return buildServer({ ...given, ...(log !== undefined && { log }) }, { limits, shedder, memory })
}
