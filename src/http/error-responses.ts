import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorNumbers } from '../../generated/error-numbers.ts'
import { type ContractError, toContractError } from './errors.ts'
import { logFailure } from './log-failure.ts'
import { isAllRead } from './read-body.ts'
import { contextOf, recordRefusal } from './request-context.ts'
import { contentLength } from './request-head.ts'
import { closeUnread, readAndDropped } from './upload.ts'
import type { WriteError } from './written-error.ts'

/** Returns Fastify's error handler, the only way out for errors: it answers for anything that was thrown. */
export const errorSender =
  (write: WriteError) =>
  (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = toContractError(thrown)
    const context = contextOf(request.raw)
    recordRefusal(context, error)
    if (error !== thrown) logCause(request, error, thrown)
    closeUnread(request.raw, reply.raw)
    // A large unread body is not worth its bytes.
    if (closing.has(error.error) || unreadBytes(request) > readAndDropped) {
      reply.raw.shouldKeepAlive = false
    } else if (isAllRead(request.raw) && !reply.raw.hasHeader('connection') && reply.hasHeader('connection')) {
      // Fastify closes after every error of a body parser, also when the body was read whole.
      reply.removeHeader('connection')
    }
    // Behind another answer of its connection, a request may wait for long.
    request.body = undefined
    const { contentType, text } = write(error, context)
    // As text: an error leaves as it is, whatever the schemas of the operation say.
    reply.serializer(String).code(error.statusCode).headers(error.headers)
    reply.type(contentType).send(text)
  }

/** After these errors the message framing is unknown, so the connection is closed. */
const closing = new Set<number>([
  errorNumbers.malformedRequest,
  errorNumbers.expectationFailed,
  errorNumbers.headersTooLarge,
])

function logCause(request: FastifyRequest, { statusCode }: ContractError, err: unknown): void {
  if (statusCode === 500) logFailure(request, err)
  else if (statusCode === 503) request.log.warn({ request_id: contextOf(request.raw).id, err }, 'request refused')
}

function unreadBytes({ raw: { complete, headers } }: FastifyRequest): number {
  if (complete) return 0
  return headers['transfer-encoding'] === undefined ? contentLength(headers) : Number.POSITIVE_INFINITY
}
