import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ContractError, toContractError } from './errors.ts'
import { isAllRead } from './read-body.ts'
import { contextOf, logFailure, recordRejection, type WriteError } from './request-context.ts'
import { contentLength } from './request-head.ts'
import { closeUnread, maxDrainedBody } from './upload.ts'

/** Returns Fastify's error handler, which sends the error response for every thrown value. */
export const errorSender =
  (write: WriteError) =>
  (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = toContractError(thrown)
    const context = contextOf(request.raw)
    if (error !== thrown) logCause(request, error, thrown)
    closeUnread(request.raw, reply.raw)
    // Draining a large unread body would cost more than a new connection.
    if (closing.has(error.kind) || unreadBytes(request) > maxDrainedBody) {
      reply.raw.shouldKeepAlive = false
    } else if (isAllRead(request.raw) && !reply.raw.hasHeader('connection') && reply.hasHeader('connection')) {
      // Fastify closes the connection after every error of a body parser, even if the body was read completely.
      reply.removeHeader('connection')
    }
    // Frees the body: with pipelining, this response may wait long for earlier ones of its connection.
    request.body = undefined
    const { number, contentType, text } = write(error, context)
    recordRejection(context, error.kind, number)
    // The body is already serialized, so the response schemas of the operation must not apply.
    reply.serializer(String).code(error.statusCode).headers(error.headers)
    reply.type(contentType).send(text)
  }

/** After these errors the message framing is unknown, so the connection is closed. */
const closing = new Set(['malformedRequest', 'expectationFailed', 'headersTooLarge'])

function logCause(request: FastifyRequest, { statusCode }: ContractError, err: unknown): void {
  if (statusCode === 500) logFailure(request, err)
  else if (statusCode === 503) request.log.warn({ request_id: contextOf(request.raw).id, err }, 'request rejected')
}

function unreadBytes({ raw: { complete, headers } }: FastifyRequest): number {
  if (complete) return 0
  return headers['transfer-encoding'] === undefined ? contentLength(headers) : Number.POSITIVE_INFINITY
}
