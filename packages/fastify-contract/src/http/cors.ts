import type { IncomingMessage, Server } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Guard } from './request-guards.ts'
import { hasNoContent } from './request-head.ts'

/** Returned by a guard that has sent the response itself. */
export const responseSent = Symbol('response sent')

/** What pages of other origins may do, in terms of the CORS protocol (fetch.spec.whatwg.org section 3.2). */
export type CrossOrigin = {
  /** The allowed origins, as browsers send them: scheme, host and port. */
  origins: string[]
  /** Returns further allowed origins: those of the service's own pages, which are known once these are served. */
  ownOrigins?: (() => string[]) | undefined
  methods: string[]
  /** Headers that a page may send. */
  requestHeaders: string[]
  /** Headers that a page may read. */
  responseHeaders: string[]
}

/** Seconds for which browsers cache a preflight response; Chromium caps it at this value. */
const maxAge = '7200'

/**
 * Adds CORS headers to each response of an app, and returns the guard that responds to preflight requests. The headers
 * are set on Node's response before Fastify gets the request: some responses are sent before any hook runs, and
 * `@fastify/cors` would leave those without headers. The response to an origin that is not allowed has only `Vary`.
 */
export function allowOrigins(
  app: FastifyInstance<Server>,
  { origins, ownOrigins = () => [], ...names }: CrossOrigin,
): Guard {
  const isAllowed = (origin = '') => origins.includes(origin) || ownOrigins().includes(origin)
  const exposed = names.responseHeaders.join(', ')
  const permissions = {
    'access-control-allow-methods': names.methods.join(', '),
    'access-control-allow-headers': names.requestHeaders.join(', '),
    'access-control-max-age': maxAge,
  }
  app.server.prependListener('request', function setOrigin({ headers: { origin } }, response) {
    // A cache must not serve a response for one origin to another. The service's own pages bypass caches.
    if (origins.length > 0) response.setHeader('vary', 'Origin')
    if (origin === undefined || !isAllowed(origin)) return
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-expose-headers', exposed)
  })
  return function respondToPreflight({ raw }, reply) {
    if (!isPreflight(raw) || !isAllowed(raw.headers.origin)) return undefined
    reply.code(204).headers(permissions).send()
    return responseSent
  }
}

/** Returns whether a request is a preflight. A request with a body is none: later guards must limit the body. */
const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && hasNoContent(headers)

/** Adds a request header to Vary and keeps those that it already lists. */
export function addVary(reply: FastifyReply, name: string): void {
  const before = reply.getHeader('vary') ?? reply.raw.getHeader('vary')
  reply.header('vary', before === undefined ? name : `${before}, ${name}`)
}
