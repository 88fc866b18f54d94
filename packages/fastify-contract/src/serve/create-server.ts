import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { VerifierFactory } from '../auth/verifiers.ts'
import type { Observer } from '../http/request-context.ts'
import { serverOptions } from '../http/request-guards.ts'
import {
  bodyMemory,
  defaultLimits,
  type Limits,
  networkOf,
  type RequestLimit,
  rateLimit,
  rateLimitHeaders,
  type ShedReason,
  watchOverload,
} from '../limits/limits.ts'
import type { Contract } from './contract.ts'
import type { AnyErrorBody, ErrorBody } from './error-writer.ts'
import type { Handlers } from './handler-types.ts'
import { registerOperations } from './register-operations.ts'
import type { AnyHandler } from './request-steps.ts'
import { authLimits } from './security.ts'

/** The options of `createServer`. `Operations` are the `operations` of the generated `api.d.ts`. */
export type ServerOptions<Operations> = {
  /** What `loadContract` returns. */
  contract: Pick<Contract, 'routes'>
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
  linger?: number
  /** Addresses and CIDR ranges of the proxies whose X-Forwarded-For is trusted. */
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

/**
 * Returns a Fastify instance that serves the operations of a document; it does not listen yet. Throws an error that
 * lists every operation without a handler or verifier, and every surplus handler.
 *
 * As in any Fastify application, the caller may add plugins, decorators, hooks and routes until the instance is ready.
 * Their hooks apply to the operations, and run after the hooks of this function and before authentication. A hook tells
 * operations apart by `request.routeOptions.schema.operationId`. Only streams are sent without onSend hooks. The
 * operations are registered when the instance loads its plugins, which `await` does too, so an onRoute hook sees them if
 * it is added in `plugins`, or at once and without a plugin.
 */
export function createServer<Operations>(options: ServerOptions<Operations>): FastifyInstance {
  const { contract, log, shed = () => {}, trustProxy = [] } = options
  const { routes } = contract
  const limits = { ...defaultLimits, ...options.limits }
  const app: FastifyInstance = Fastify({
    ...serverOptions,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy.length > 0 && trustProxy,
    bodyLimit: limits.body,
    requestTimeout: limits.requestTime,
    keepAliveTimeout: limits.keepAliveTime,
    // A connection without any traffic for this long is dead.
    connectionTimeout: limits.requestTime + limits.handlerTime,
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
  // setServerLogger sets this log on each request.
  if (log !== undefined) app.log = log
  app.server.maxConnections = limits.connections
  const { admit, run, close } = watchOverload(limits, shed)
  app.addHook('onClose', async () => close())
  const { requestLimit = rateLimit(limits.requests) } = options
  registerOperations(app, {
    ...options,
    ...authLimits(rateLimit(limits.authFailures, networkOf), requestLimit),
    routes,
    handlers: options.handlers as Record<string, AnyHandler>,
    errorBody: options.errorBody as AnyErrorBody,
    headersLimit: limits.headers,
    admit,
    run,
    memory: bodyMemory(limits.bodyMemory, shed),
    uploads: { bytes: limits.upload, fields: limits.formFields },
    readableHeaders: limits.requests === 0 ? [] : [...rateLimitHeaders],
  })
  return app
}
