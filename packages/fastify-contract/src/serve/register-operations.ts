import { maxHeaderSize } from 'node:http'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
import { type Tracking, trackConnections } from '../http/connections.ts'
import { allowOrigins } from '../http/cors.ts'
import { errorSender } from '../http/error-responses.ts'
import type { BodyMemory } from '../http/read-body.ts'
import { type Admit, inOrder, routeError, takeOverFromNode } from '../http/request-guards.ts'
import { openStreamScopes } from '../http/stream-scope.ts'
import type { UploadLimits } from '../http/upload.ts'
import { registerAdditional } from './additional-methods.ts'
import { checkBinding } from './check-binding.ts'
import { acceptBodies } from './content-type-parsers.ts'
import { crossOriginNames } from './cross-origin-names.ts'
import type { AnyErrorBody } from './error-types.ts'
import { errorWriter } from './error-writer.ts'
import { glueDocument } from './glue-document.ts'
import { type AnyHandler, type Run, stepsOfEveryRequest, stepsOfOperation } from './request-steps.ts'
import type { Operation, Routes } from './routes.ts'
import type { Conclude, Verifiers } from './security.ts'
import { methodFinder, missingMethods } from './served-methods.ts'
import { createValidator } from './validator.ts'

/** What registerOperations binds to the operations of a document. */
export type Binding = Tracking & {
  routes: Routes
  /** By operationId. */
  handlers: Record<string, AnyHandler>
  /** By the name of the security scheme. */
  verifiers: Verifiers
  /** Creates the bodies of error responses. */
  errorBody: AnyErrorBody
  /** Makes the final decision on each request after authentication, such as rate limits; default: no limit. */
  conclude?: Conclude | undefined
  /** Runs the handlers, for example with a timeout; default: no timeout. */
  run?: Run | undefined
  /** Rejects requests under overload; default: none. */
  admit?: Admit | undefined
  /** The memory budget that all request bodies share; default: no limit. */
  memory?: BodyMemory | undefined
  /** Default: 64 MiB, and 1,000 fields in a form. */
  uploads?: UploadLimits | undefined
  /** Origins whose pages may call the operations; default: none. */
  origins?: string[] | undefined
}

/**
 * Registers the operations with their handlers on a new Fastify instance. Each request passes the steps of
 * request-steps.ts, and no other route is reachable. Rejects with an error that lists every operation without a handler
 * or verifier, and every surplus handler.
 */
export async function registerOperations(app: FastifyInstance, binding: Binding): Promise<void> {
  const {
    routes,
    handlers,
    verifiers,
    errorBody,
    conclude = unlimited,
    run = runAlone,
    admit = () => undefined,
    memory = unbounded,
    uploads = { bytes: 67_108_864, fields: 1_000 },
    origins = [],
    ...tracking
  } = binding
  const { headersLimit = maxHeaderSize } = tracking
  const { operations, schemas } = routes
  checkBinding(operations, handlers, verifiers)
  const writeError = errorWriter(errorBody, (err) => app.log.error({ err }, 'errorBody failed'))
  app.setErrorHandler(errorSender(writeError))
  const preflight = origins.length === 0 ? undefined : allowOrigins(app, { origins, ...crossOriginNames(routes) })
  const allowedMethods = methodFinder(operations)
  for (const step of stepsOfEveryRequest({ admit, allowedMethods, headersLimit, preflight })) {
    app.addHook('onRequest', step)
  }
  takeOverFromNode(app)
  // Registered before trackConnections, so that shutdown ends streams before it waits for their connections.
  const openStreams = openStreamScopes(app)
  trackConnections(app, writeError, tracking)
  const bounds = { body: app.initialConfig.bodyLimit as number, headers: headersLimit, uploads, memory }
  acceptBodies(app, operations, bounds)
  for (const [name, schema] of Object.entries(schemas)) app.addSchema({ ...(schema as object), $id: name })
  const validator = createValidator(schemas)
  const headPaths = new Set(operations.flatMap((each) => (each.method === 'HEAD' ? urlsOf(each) : [])))
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]))
  const optionsOf = (operation: Operation, url: string): RouteOptions => {
    const { operationId, security, schema } = operation
    const handler = handlers[operationId] as AnyHandler
    return {
      schema: { operationId, security, ...schema },
      // Fastify adds HEAD for each GET, unless the document has a HEAD operation (RFC 9110 section 9.3.2).
      exposeHeadRoute: !headPaths.has(url),
      ...stepsOfOperation({ operation, schemas, validator, verifiers, conclude, openStreams, handler, run, bounds }),
    } as RouteOptions
  }
  await app.register(fastifyOpenapiGlue, {
    specification: glueDocument(routes),
    operationResolver: (operationId, _method, url) => optionsOf(byId.get(operationId) as Operation, url),
  })
  registerAdditional(app, operations, optionsOf)
  const missing = inOrder([routeError(allowedMethods)])
  for (const route of missingMethods(operations)) app.route({ ...route, onRequest: missing, handler: missing as never })
}

const urlsOf = ({ servedPaths }: Operation) => servedPaths.map(({ url }) => url)

const unbounded: BodyMemory = {
  take: () => undefined,
  release() {},
  admit: () => undefined,
  during: (_bytes, outcome) => outcome,
}

const unlimited: Conclude = (_request, refusal) => refusal

const runAlone: Run = (outcome, done) => void outcome.then((outcome) => done(undefined, outcome), done)
