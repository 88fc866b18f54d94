import type { IncomingMessage, Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { answered, type Step } from './request-guards.ts'
import { contentLength } from './request-head.ts'

/** What pages of other origins may do by the CORS protocol (fetch.spec.whatwg.org section 3.2), beside simple requests. */
export type CrossOrigin = {
  /** As browsers send them: scheme, host and port. */
  origins: string[]
  methods: string[]
  /** Headers that a page may send. */
  requestHeaders: string[]
  /** Headers that it may read. */
  responseHeaders: string[]
}

/** Seconds for which a browser need not ask again; Chromium allows no more. */
const maxAge = '7200'

/**
 * Adds the CORS headers to each answer of an app, and returns the step that answers preflight requests. The headers are
 * set on Node's response before Fastify has the request, because an answer may leave before any hook runs, where
 * `@fastify/cors` would set none. A request of another origin is served as if nothing were allowed.
 */
export function allowOrigins(app: FastifyInstance<Server>, { origins, ...names }: CrossOrigin): Step {
  const allowed = new Set(origins)
  const exposed = names.responseHeaders.join(', ')
  const permissions = {
    'access-control-allow-methods': names.methods.join(', '),
    'access-control-allow-headers': names.requestHeaders.join(', '),
    'access-control-max-age': maxAge,
  }
  app.server.prependListener('request', ({ headers: { origin = '' } }, response) => {
    // A cache must not give the answer for one origin to another one.
    response.setHeader('vary', 'Origin')
    if (!allowed.has(origin)) return
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-expose-headers', exposed)
  })
  return ({ raw }, reply) => {
    if (!isPreflight(raw) || !allowed.has(String(raw.headers.origin))) return undefined
    reply.code(204).headers(permissions).send()
    return answered
  }
}

/** A browser sends no body with a preflight request; nothing would bound one here. */
const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' &&
  headers['access-control-request-method'] !== undefined &&
  contentLength(headers) === 0 &&
  headers['transfer-encoding'] === undefined
