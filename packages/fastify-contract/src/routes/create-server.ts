import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController, type RouteOptions } from 'fastify'
import { createVerifiers, type VerifierFactory } from '../auth/verifiers.ts'
import type { Contract, Operation } from '../contract/routes.ts'
import { type BodyMemory, bodyMemory } from '../http/body-memory.ts'
import { trackConnections } from '../http/connections.ts'
import { allowOrigins } from '../http/cors.ts'
import { errorSender } from '../http/error-responses.ts'
import type { Observer } from '../http/request-context.ts'
import { disableNodeExpectHandling, originForm, serverOptions } from '../http/request-guards.ts'
import { openStreamScopes } from '../http/streams.ts'
import {
  createLoadShedder,
  defaultLimits,
  type Limits,
  type LoadShedder,
  networkOf,
  type RequestLimit,
  rateLimit,
  rateLimitHeaders,
  type ShedReason,
} from '../limits/limits.ts'
import { acceptBodies } from '../request/request-body.ts'
import { type AnyErrorBody, type ErrorBody, errorWriter } from '../response/error-writer.ts'
import { responseQueue } from '../response/response-queue.ts'
import { loadSchemaCode } from '../schema/schema-code.ts'
import { createValidator, type Validator } from '../schema/validator.ts'
import type { Handlers } from './handler-types.ts'
import { crossOriginNames, registerRoutes } from './register-routes.ts'
import { type AnyHandler, stepsOfEveryRequest, stepsOfOperation } from './request-steps.ts'
import { authentication, authLimits } from './security.ts'
import { methodFinder, operationSelector } from './served-paths.ts'

/** The options of `createServer`. `Operations` are the `operations` of the generated `api.d.ts`. */
export type ServerOptions<Operations> = {
  /** What `loadContract` returns. */
  contract: Pick<Contract, 'routes' | 'schemaCode'>
  /** Exactly one handler for each operationId. */
  handlers: Handlers<Operations>
  /** A verifier for each security scheme, by its name in the document, such as `{ bearer: bearer(verifyToken) }`. */
  verifiers: Record<string, VerifierFactory>
  /** Creates the body of each error response that the server itself sends. */
  errorBody: ErrorBody<Operations>
  /** The realm of the authentication challenges (RFC 9110 section 11.5); default: the title of the document. */
  realm?: string
  /** Overrides of the default limits. */
  limits?: Partial<Limits>
  /** Default: no log. */
  log?: FastifyBaseLogger
  observer?: Observer
  /** Called for each request that is rejected because of overload. */
  shed?: (reason: ShedReason) => void
  /** Returns whether each response must close its connection. */
  draining?: () => boolean
  /** Milliseconds for which close() still serves idle connections after the listener closed; default 0. */
  keepAliveGrace?: number
  /** Addresses and CIDR ranges of the proxies whose headers are trusted: X-Forwarded-For, and that of `mutualTls`. */
  trustProxy?: string[]
  /** Origins whose pages may call the server from a browser; default: none. */
  origins?: string[]
  /** Returns the origins of the service's own pages, which may call the server, too; default: none. */
  ownOrigins?: () => string[]
  /** Counts the requests of each client; default: by `limits.requests`. */
  requestLimit?: RequestLimit
  /** Registers the plugins whose onRoute hooks must see the operations, such as `@fastify/swagger`. */
  plugins?: (app: FastifyInstance) => void
}

/** `ServerOptions` of an arbitrary document. */
export type AnyServerOptions = Omit<ServerOptions<unknown>, 'handlers' | 'errorBody' | 'limits'> & {
  handlers: Record<string, AnyHandler>
  errorBody: AnyErrorBody
}

/**
 * Returns a Fastify instance that serves the operations of a document; it does not listen yet. Throws an error that
 * lists every operation without a handler or verifier, and every extra handler.
 *
 * As in any Fastify application, the caller may add plugins, decorators, hooks and routes until the instance is ready.
 * Their hooks apply to the operations; onRequest hooks run after those of this function and before authentication. From
 * preParsing on, `requestContext` names the operation. Only streams are sent without onSend hooks.
 *
 * The operations are registered when Fastify loads its plugins (`ready`, `listen`, or `await app`). Add an onRoute hook
 * in the option `plugins`, or directly after createServer returns: a hook in a later plugin misses them.
 */
export function createServer<Operations>(options: ServerOptions<Operations>): FastifyInstance {
  const limits = { ...defaultLimits, ...options.limits }
  const { shed = () => {} } = options
  const shedder = createLoadShedder(limits, shed)
  const memory = bodyMemory(limits.bodyMemory, () => shed('body_memory'))
  return buildServer(options as unknown as AnyServerOptions, limits, shedder, memory)
}

/** Creates a server with a given load shedder, which it closes, and a given memory budget of the request bodies. */
export function buildServer(
  options: AnyServerOptions,
  limits: Limits,
  shedder: LoadShedder,
  memory: BodyMemory,
): FastifyInstance {
  const { contract, handlers, verifiers, errorBody, log, observer, draining, keepAliveGrace, origins = [] } = options
  const { ownOrigins, plugins, trustProxy = [], requestLimit = rateLimit(limits.requests) } = options
  const { routes, schemaCode } = contract
  const { operations, skipped = [], schemas, info, errorNumbers } = routes
  checkBinding(operations, handlers, verifiers)
  const described = [...operations, ...skipped]
  const select = operationSelector(described)
  const app: FastifyInstance = Fastify({
    ...serverOptions,
    ...(select && { rewriteUrl: (request: IncomingMessage) => select(originForm(request), request) }),
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length > 0 && trustProxy,
    bodyLimit: limits.body,
    requestTimeout: limits.requestTime,
    keepAliveTimeout: limits.keepAliveTime,
    http: {
      ...serverOptions.http,
      maxHeaderSize: limits.headers,
      // Node.js throws if headersTimeout exceeds requestTimeout.
      headersTimeout: Math.min(limits.headersTime, limits.requestTime),
      requestTimeout: limits.requestTime,
      // The interval in which Node.js checks for requests that have timed out.
      connectionsCheckingInterval: Math.min(1_000, limits.headersTime),
    },
  })
  // Not the option loggerInstance, with which Fastify adds a listener to each response, even if it logs no request.
  // assignRequestId sets this log on each request.
  if (log !== undefined) app.log = log
  app.server.maxConnections = limits.connections
  // Node.js would silently drop headers beyond its count; the limit on their size still applies.
  app.server.maxHeadersCount = 0
  disableNodeExpectHandling(app)
  app.addHook('onClose', async () => shedder.close())
  const writeError = errorWriter(errorBody, errorNumbers, (err) => app.log.error({ err }, 'errorBody failed'))
  app.setErrorHandler(errorSender(writeError))
  const isSameOriginOnly = origins.length === 0 && ownOrigins === undefined
  const names = crossOriginNames(routes, limits.requests === 0 ? [] : [...rateLimitHeaders])
  const preflight = isSameOriginOnly ? undefined : allowOrigins(app, { origins, ownOrigins, ...names })
  const allowedMethods = methodFinder(described)
  const { shedLoad } = shedder
  const guards = {
    shedLoad,
    allowedMethods,
    headersLimit: limits.headers,
    preflight,
    hasSelectors: select !== undefined,
  }
  for (const hook of stepsOfEveryRequest(guards)) app.addHook('onRequest', hook)
  // Registered before trackConnections, so that shutdown ends streams before it waits for their connections.
  const openStreams = openStreamScopes(app)
  const queueResponse = responseQueue()
  const silence = limits.requestTime + limits.handlerTime
  trackConnections(app, writeError, { observer, draining, headersLimit: limits.headers, keepAliveGrace, silence })
  acceptBodies(app, operations, { limits, memory })
  for (const [name, schema] of Object.entries(schemas)) app.addSchema({ ...(schema as object), $id: name })
  plugins?.(app)
  app.after(async () => {
    const { realm = info.title.replace(/[^ -~]/g, '?') } = options
    const compiled = schemaCode === undefined ? undefined : loadSchemaCode(schemaCode, routes)
    const authRateLimits = authLimits(rateLimit(limits.authFailures, networkOf), requestLimit)
    const { withinFailureLimit } = authRateLimits
    const shared = {
      schemas,
      validator: createValidator(schemas, compiled),
      authenticate: authentication(
        await createVerifiers(verifiers, { app, realm, withinFailureLimit, trustProxy }),
        authRateLimits,
      ),
      openStreams,
      runWithTimeout: shedder.runWithTimeout,
      queueResponse,
      bounds: { limits, memory },
    }
    Object.assign(app, {
      [partsKey]: { limits, memory, operations, validator: shared.validator } satisfies ServerParts,
    })
    await registerRoutes(app, routes, (operation) => {
      const { operationId, security, schema } = operation
      return {
        schema: { operationId, security, ...schema },
        ...stepsOfOperation({ ...shared, operation, handler: handlers[operationId] as AnyHandler }),
      } as RouteOptions
    })
  })
  return app
}

/** What a server shares with the plugins of this package. */
export type ServerParts = { limits: Limits; memory: BodyMemory; operations: Operation[]; validator: Validator }

const partsKey = Symbol('parts of the server')

/** Returns the parts of a server. Throws an error for an app that `createServer` did not create. */
export function serverPartsOf(app: FastifyInstance & { [partsKey]?: ServerParts }): ServerParts {
  const parts = app[partsKey]
  if (parts === undefined) throw new Error('this plugin needs an app of createServer; register it on one')
  return parts
}

/**
 * Throws one error that lists every operation without a handler, security scheme without a verifier, and handler
 * without an operation. Otherwise requests would get a 500 or skip authentication, or a handler would never be called.
 */
function checkBinding(operations: Operation[], handlers: object, verifiers: object): void {
  const problems: string[] = []
  const ids = new Set(operations.map(({ operationId }) => operationId))
  for (const { operationId, security } of operations) {
    const name = `operation ${operationId}`
    if (!Object.hasOwn(handlers, operationId)) problems.push(`${name} has no handler; add one to \`handlers\``)
    for (const scheme of security.flatMap((requirement) => Object.keys(requirement))) {
      if (!Object.hasOwn(verifiers, scheme))
        problems.push(`${name}: security scheme ${scheme} has no verifier; add one to \`verifiers\``)
    }
  }
  for (const id of Object.keys(handlers)) {
    if (!ids.has(id))
      problems.push(`handler ${id} has no operation in the document; remove it, or describe its operation`)
  }
  if (problems.length > 0) throw new Error(['the document and its handlers do not match', ...problems].join('\n  '))
}
