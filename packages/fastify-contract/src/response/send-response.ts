import type { FastifyReply } from 'fastify'
import type { Operation } from '../contract/routes.ts'
import { contextOf, recordError } from '../http/request-context.ts'
import type { Validator } from '../schema/validator.ts'
import { type BodySenders, bodySenders, type SendBody, senderOf } from './body-senders.ts'
import { type HeaderTexts, headerWriter, setHeaders, type WriteHeaders } from './response-headers.ts'

/**
 * The result of a handler, with `contentType` if the response has several media types or a range. `checked` is the result
 * of `preconditions.check` of a write.
 */
export type HandlerResponse = {
  status: number
  headers?: Record<string, unknown>
  contentType?: string
  checked?: unknown
  body: unknown
}

const noHeaders: HeaderTexts = []

/** How the responses of an operation are sent, by status as in the document. */
export type ResponseSenders = { operationId: string; responses: Record<string, ResponseSender> }

/** How one response of an operation is sent. */
export type ResponseSender = BodySenders & { headersOf: WriteHeaders | undefined }

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
export type SendResponse = (
  senders: ResponseSenders,
  reply: FastifyReply,
  response: HandlerResponse,
) => Promise<void> | undefined

/** Sends a response without looking at preconditions. */
export const sendResponse: SendResponse = function sendResponse(senders, reply, response) {
  const sender = senderFor(senders, response)
  return sendWith(sender, reply, response, headerTexts(sender, response))
}

/** Returns how a response is sent. Throws if the document has no such response, or one without its headers or body. */
export function senderFor(
  { operationId, responses }: ResponseSenders,
  { status, headers, body }: HandlerResponse,
): ResponseSender {
  const found = responses[responseKey(responses, status) ?? '']
  if (found === undefined) throw new Error(`operation ${operationId} has no response ${status}`)
  if ((body === undefined) === hasContent(found)) {
    throw new Error(`operation ${operationId}: response ${status} must have a body if and only if it has content`)
  }
  if (headers !== undefined && found.headersOf === undefined) {
    throw new Error(`operation ${operationId}: response ${status} declares no headers that a handler may set`)
  }
  return found
}

const hasContent = ({ senders }: ResponseSender): boolean => senders?.size !== 0

/** Returns the texts of the headers of a response. Throws if they do not match the document. */
export const headerTexts = ({ headersOf }: ResponseSender, { headers }: HandlerResponse): HeaderTexts =>
  headersOf?.(headers) ?? noHeaders

/** Sends a response with the texts of its headers. */
export function sendWith(
  sender: ResponseSender,
  reply: FastifyReply,
  { status, contentType, body }: HandlerResponse,
  headers: HeaderTexts,
): Promise<void> | undefined {
  recordError(contextOf(reply.request.raw), errorNumber(status, body))
  reply.code(status)
  const { send, senders } = sender
  if (hasContent(sender)) {
    const sendBody = contentType === undefined || senders === undefined ? send : senderOf(senders, contentType)
    if (sendBody === undefined)
      throw new Error(`contentType must be ${[...(senders as Map<string, SendBody>).keys()].join(' or ')}`)
    return sendBody(reply, { body, contentType, headers })
  }
  setHeaders(reply, headers)
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
