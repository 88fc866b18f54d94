import type { FastifyReply, FastifyRequest } from 'fastify'
import { ContractError, errorNameOf } from '../contract/errors.ts'
import { isAllRead } from './read-body.ts'
import { contextOf, logFailure, recordRejection, type WriteError } from './request-context.ts'
import { contentLength } from './request-head.ts'
import { closeUnread, maxDrainedBody } from './upload.ts'

/** Returns Fastify's error handler, which sends the error response for every thrown value. */
export function errorSender(write: WriteError) {
  return function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
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

/** An error of a dependency that is temporarily unavailable; retryAfter is in seconds. */
type Unavailable = Error & { retryAfter: number }

const isUnavailable = (error: unknown): error is Unavailable =>
  error instanceof Error && 'retryAfter' in error && typeof error.retryAfter === 'number'

/** The members of an error of Fastify or Node.js that determine the response. */
type Coded = { code?: string; statusCode?: number; message?: string }

/**
 * Returns the error that the client gets for a value that was thrown while a request was handled, or for an error of
 * the HTTP parser. The errors of Fastify itself get a status and a message of the service. Another error with a
 * `statusCode` from 400 to 499, as plugins throw, keeps its own. The rest becomes a 500 that tells the client no details.
 */
export function toContractError(thrown: unknown): ContractError {
  if (thrown instanceof ContractError) return thrown
  if (isUnavailable(thrown)) {
    return new ContractError('unavailable', 'the service is temporarily unavailable', {
      'retry-after': String(Math.ceil(thrown.retryAfter)),
    })
  }
  const { code = '', statusCode = 500, message = '' } = (thrown ?? {}) as Coded
  switch (code) {
    case 'FST_ERR_BAD_URL':
      return new ContractError('undecodableTarget', 'the request target cannot be decoded')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ContractError('noSuchPath', 'no such path')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ContractError('tooSlow', 'the request took too long to arrive')
    // Only an operation without a request body gets this error: the others check the media type themselves.
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ContractError('unsupportedMediaType', 'the operation has no body; send none')
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ContractError('bodyTooLarge', 'the body is too large')
    case 'HPE_HEADER_OVERFLOW':
      return new ContractError('headersTooLarge', 'the header section is too large')
  }
  const isClientError = statusCode >= 400 && statusCode < 500
  if (code.startsWith('HPE_') || (isClientError && code.startsWith('FST_ERR_CTP_'))) {
    return new ContractError('malformedRequest', 'the request is not well-formed HTTP')
  }
  if (isClientError) return new ContractError(errorNameOf(statusCode), message, {}, statusCode)
  return new ContractError('internal', 'internal error; its X-Request-Id is in the log')
}
