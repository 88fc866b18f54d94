import type { Server } from 'node:http'
import type { FastifyHttpOptions } from 'fastify'
import { CoalescingMessage } from './coalescing-message.ts'
import { rejectConnection } from './connections.ts'
import { ContractError } from './errors.ts'
import { clientAddress, contextOf, recordAddress } from './request-context.ts'
import { setServerLogger } from './request-guards.ts'
import { malformedHead, parseQuery } from './request-head.ts'

/** Fastify options that keep Fastify and Node.js from sending error responses that are not the contract's. */
export const serverOptions = {
  // For these errors no hook has run, so the steps of identify and checkHead are repeated here.
  frameworkErrors(error, request, reply) {
    setServerLogger(request, reply)
    const context = contextOf(request.raw)
    recordAddress(context, clientAddress(request))
    const message = malformedHead(request.raw)
    reply.header('x-request-id', context.id)
    const refusal = message === undefined ? error : new ContractError('malformedRequest', message)
    request.server.errorHandler(refusal as typeof error, request, reply)
  },
  clientErrorHandler: rejectConnection,
  // Fastify's 503 while closing has a different body; requests that arrive then are still served.
  return503OnClosing: false,
  // The 400 of Node.js for a missing Host has no body; malformedHead checks the header instead.
  http: { requireHostHeader: false, IncomingMessage: CoalescingMessage },
  // Fastify would otherwise create a different request id.
  genReqId: (request) => contextOf(request).id,
  // A server must accept the absolute form of a request target (RFC 9112 section 3.2.2).
  rewriteUrl: ({ url = '' }) => (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]+\/?/i, '/')),
  // The header limit already bounds the length of a path.
  routerOptions: { maxParamLength: 65_536, querystringParser: parseQuery },
} satisfies FastifyHttpOptions<Server>
