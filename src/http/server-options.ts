import type { Server } from 'node:http'
import type { FastifyHttpOptions } from 'fastify'
import { clientAddress } from './client-address.ts'
import { CoalescingMessage } from './coalescing-message.ts'
import { refuseConnection } from './connection-refusal.ts'
import { ContractError } from './errors.ts'
import { parseQuery } from './query-string.ts'
import { contextOf, recordAddress } from './request-context.ts'
import { setServerLogger } from './request-guards.ts'
import { malformedHead } from './request-head.ts'

/** Fastify options without which an answer would leave the service that is not the contract's. */
export const serverOptions = {
  // No hook has run for these.
  frameworkErrors(error, request, reply) {
    setServerLogger(request, reply)
    const context = contextOf(request.raw)
    recordAddress(context, clientAddress(request))
    const message = malformedHead(request.raw)
    reply.header('x-request-id', context.id)
    const refusal = message === undefined ? error : new ContractError('malformedRequest', message)
    request.server.errorHandler(refusal as typeof error, request, reply)
  },
  clientErrorHandler: refuseConnection,
  // Fastify's own 503 while closing has a body of its own shape: requests that still arrive are served.
  return503OnClosing: false,
  // Node's own 400 for a missing Host has no body: it is refused with the rest of a malformed head.
  http: { requireHostHeader: false, IncomingMessage: CoalescingMessage },
  // Fastify would make an id of its own.
  genReqId: (request) => contextOf(request).id,
  // RFC 9112 section 3.2.2: a server accepts the absolute form of a request target.
  rewriteUrl: ({ url = '' }) => (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]+\/?/i, '/')),
  // The header section's own limit bounds a path.
  routerOptions: { maxParamLength: 65_536, querystringParser: parseQuery },
} satisfies FastifyHttpOptions<Server>
