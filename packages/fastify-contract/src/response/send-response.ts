import type { FastifyReply } from 'fastify'
import type { Operation } from '../contract/routes.ts'
import { contextOf, recordError } from '../http/request-context.ts'
import type { Validator } from '../schema/validator.ts'
import { type BodySenders, bodySenders, type SendBody, senderOf } from './body-senders.ts'
import { type HeaderTexts, headerWriter, setHeaders, type WriteHeaders } from './response-headers.ts'

/** The result of a handler, with `contentType` if the response has several media types or a range. */
export type HandlerResponse = { status: number; headers?: Record<string, unknown>; contentType?: string; body: unknown }

const noHeaders: HeaderTexts = []

/** How the responses of an operation are sent, by status as in the document. */
export type ResponseSenders = { operationId: string; responses: Record<string, ResponseSender> }

type ResponseSender = BodySenders & { headersOf: WriteHeaders | undefined }

/**
 * Returns how to send the responses of an operation. It is data, because functions for each of hundreds of operations
 * would not fit into the cache of the processor.
 */
export function responseSenders(operation: Operation, validator: Validator): ResponseSenders {
  const responses: Record<string, ResponseSender> = {}
  for (const [status, { content = {} }] of Object.entries(operation.schema.response)) {
    responses[status] = {
      ...bodySenders(status.toLowerCase(), content, validator),
      headersOf: headerWriter(operation, status, validator),
    }
  }
  return { operationId: operation.operationId, responses }
}

/**
 * Sends what the handler of an operation returned. If that does not match the document, the function throws, or for a
 * stream returns a promise that rejects.
 */
export function sendResponse(
  { operationId, responses }: ResponseSenders,
  reply: FastifyReply,
  { status, headers, contentType, body }: HandlerResponse,
): Promise<void> | undefined {
  const found = responses[responseKey(responses, status) ?? '']
  if (found === undefined) throw new Error(`operation ${operationId} has no response ${status}`)
  const { send, senders, headersOf } = found
  const hasContent = senders?.size !== 0
  if ((body === undefined) === hasContent) {
    throw new Error(`operation ${operationId}: response ${status} must have a body if and only if it has content`)
  }
  if (headers !== undefined && headersOf === undefined) {
    throw new Error(`operation ${operationId}: response ${status} declares no headers that a handler may set`)
  }
  const texts = headersOf?.(headers) ?? noHeaders
  recordError(contextOf(reply.request.raw), errorNumber(status, body))
  reply.code(status)
  if (hasContent) {
    const sendBody = contentType === undefined || senders === undefined ? send : senderOf(senders, contentType)
    if (sendBody === undefined)
      throw new Error(`contentType must be ${[...(senders as Map<string, SendBody>).keys()].join(' or ')}`)
    return sendBody(reply, { body, contentType, headers: texts })
  }
  setHeaders(reply, texts)
  reply.send()
  return undefined
}

/** Returns the key of the response for a status: the status, its range or default (OpenAPI 3.1 section 4.8.16). */
export function responseKey(responses: object, status: number | string): string | undefined {
  const key = String(status)
  if (Object.hasOwn(responses, key)) return key
  const range = `${key[0]}XX`
  if (Object.hasOwn(responses, range)) return range
  return Object.hasOwn(responses, 'default') ? 'default' : undefined
}

/** Returns the error number in the body of an error response. */
function errorNumber(status: number, body: unknown): number | undefined {
  if (status < 400) return undefined
  const { error } = (body ?? {}) as { error?: unknown }
  return typeof error === 'number' ? error : undefined
}
