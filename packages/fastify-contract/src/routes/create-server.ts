import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Routes } from '../contract/routes.ts'
import { trackConnections } from '../http/connections.ts'
import { allowOrigins } from '../http/cors.ts'
import { disableNodeExpectHandling } from '../http/expectation.ts'
import type { WriteError } from '../http/request-context.ts'
import { assignServerLog, type Guard, originForm, serverOptions } from '../http/request-guards.ts'
import { type Limits, rateLimitHeaders } from '../limits/limits.ts'
import { acceptBodiesOfGet } from '../request/content-type-parsers.ts'
import {
  type AnyContractOptions,
  type ContractOptions,
  contractParts,
  limitWork,
  prepareInstance,
  serveOperations,
  shareWork,
  type Work,
} from './contract-routes.ts'
import { crossOriginNames, describedOperations } from './register-routes.ts'
import { stepsOfServer } from './request-steps.ts'
import { operationSelector, withoutMark } from './served-paths.ts'
import { keepParts } from './server-parts.ts'

/** The options of `createServer`; see ContractOptions for its parameters. */
export type ServerOptions<Handlers, Operations = unknown> = ContractOptions<Handlers, Operations> & {
  /** Default: no log. */
  log?: FastifyBaseLogger
  /** Returns whether each response must close its connection. */
  draining?: () => boolean
  /** Milliseconds for which close() still serves idle connections after the listener closed; default 0. */
  keepAliveGrace?: number
  /** Origins whose pages may call the server from a browser; default: none. */
  origins?: string[]
  /** Returns the origins of the service's own pages, which may call the server, too; default: none. */
  ownOrigins?: () => string[]
}

/** `ServerOptions` of an arbitrary document. */
export type AnyServerOptions = AnyContractOptions & Omit<ServerOptions<unknown>, keyof ContractOptions<unknown>>

/**
 * Returns a Fastify instance that serves the operations of a document; it does not listen yet. Throws an error that
 * lists every operation without a handler or verifier, and every extra handler. It serves the operations as
 * `contractPlugin` does, and adds what only a whole server can give, such as the errors of the HTTP parser.
 *
 * As in any Fastify application, the caller may add plugins, decorators, hooks and routes until the instance is ready.
 * Their hooks apply to the operations; onRequest hooks run after those of this function and before authentication. From
 * preParsing on, `requestContext` names the operation. Only streams are sent without onSend hooks.
 *
 * The operations are registered when Fastify loads its plugins (`ready`, `listen`, or `await app`). Add an onRoute hook
 * in the option `plugins`, or directly after createServer returns: a hook in a later plugin misses them.
 */
export function createServer<Handlers, Operations = unknown>(
  options: ServerOptions<Handlers, Operations>,
): FastifyInstance {
  return buildServer(options as unknown as AnyServerOptions, limitWork(options))
}

/** Creates a server with a given load shedder, which it closes, and a given memory budget of the request bodies. */
export function buildServer(options: AnyServerOptions, work: Work): FastifyInstance {
  const { contract } = options
  const { limits } = work
  const select = operationSelector(describedOperations(contract.routes))
  const app = limitedServer(options, limits, select)
  // Opens the scopes of streams before trackConnections, so that shutdown ends streams before it waits for connections.
  const parts = contractParts(app, options, shareWork(app, work, options))
  const assign = assignServerLog
  const framing = { headersLimit: limits.headers, assign, unmark: select && withoutMark }
  prepareInstance(app, parts, {
    assign,
    preflight: preflightGuard(app, options, limits, contract.routes),
    addSteps: (steps) => app.addHook('onRequest', stepsOfServer(framing, steps)),
  })
  acceptBodiesOfGet(app, parts.operations)
  trackServer(app, options, limits, parts.writeError)
  keepParts(app, parts)
  serveOperations(app, parts)
  return app
}

/** Returns the target of a request with the segment of the operation that its parameters select. */
type SelectTarget = (target: string, request: IncomingMessage) => string

/** Returns a Fastify instance with limits, which has no hook and no route yet. */
export function limitedServer(
  { log, trustProxy = [] }: Pick<AnyServerOptions, 'log' | 'trustProxy'>,
  limits: Limits,
  select: SelectTarget | undefined,
  frameworkErrors = serverOptions.frameworkErrors,
): FastifyInstance {
  const app: FastifyInstance = Fastify({
    ...serverOptions,
    frameworkErrors,
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
  // assignServerLog sets this log on each request.
  if (log !== undefined) app.log = log
  app.server.maxConnections = limits.connections
  // Node.js would silently drop headers beyond its count; the limit on their size still applies.
  app.server.maxHeadersCount = 0
  disableNodeExpectHandling(app)
  return app
}

/** Tracks the connections of a server with limits. */
export function trackServer(
  app: FastifyInstance,
  { observer, draining, keepAliveGrace }: Pick<AnyServerOptions, 'observer' | 'draining' | 'keepAliveGrace'>,
  limits: Limits,
  writeError: WriteError,
): void {
  const silence = limits.requestTime + limits.handlerTime
  const linger = { bytes: limits.linger, time: limits.lingerTime }
  trackConnections(app, writeError, {
    observer,
    draining,
    headersLimit: limits.headers,
    linger,
    keepAliveGrace,
    silence,
  })
}

/** Adds CORS headers to the responses. Returns the guard that responds to preflight requests, if origins are allowed. */
export function preflightGuard(
  app: FastifyInstance,
  { origins = [], ownOrigins }: Pick<AnyServerOptions, 'origins' | 'ownOrigins'>,
  limits: Limits,
  routes: Pick<Routes, 'operations' | 'apiKeyHeaders'>,
): Guard | undefined {
  if (origins.length === 0 && ownOrigins === undefined) return undefined
  const names = crossOriginNames(routes, limits.requests === 0 ? [] : [...rateLimitHeaders])
  return allowOrigins(app, { origins, ownOrigins, ...names })
}
