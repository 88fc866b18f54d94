import type { FastifyReply } from 'fastify'
import { contextOf, recordError } from '../http/request-context.ts'
import { bytesSender, jsonSender, rangeSender, type SendBody, sequenceSender, textSender } from './body-senders.ts'
import { isRange, kindOf } from './media-types.ts'
import { type HeaderTexts, headerWriter, setHeaders } from './response-header-writer.ts'
import type { Content, Operation } from './routes.ts'
import type { Validator } from './validator.ts'

/** The result of a handler, with `contentType` if the response has several media types or a range. */
export type Outcome = { status: number; headers?: Record<string, unknown>; contentType?: string; body: unknown }

const none: HeaderTexts = []

/**
 * Returns a function that sends the outcomes of an operation's handler. It looks up the response by status, then by
 * range, then `default` (OpenAPI 3.1 section 4.8.16). If the outcome does not match the response, it throws, or for a
 * stream returns a promise that rejects.
 */
export function responseSender(operation: Operation, validator: Validator) {
  const { operationId, schema } = operation
  const responses = Object.fromEntries(
    Object.entries(schema.response).map(([status, { content }]) => [
      status,
      {
        sendBody: content && bodySender(status.toLowerCase(), content, validator),
        headersOf: headerWriter(operation, status, validator),
      },
    ]),
  )
  return (reply: FastifyReply, { status, headers, contentType, body }: Outcome): Promise<void> | undefined => {
    const found = responses[status] ?? responses[`${Math.trunc(status / 100)}XX`] ?? responses.default
    if (found === undefined) throw new Error(`operation ${operationId} has no response ${status}`)
    const { sendBody, headersOf } = found
    if ((body === undefined) !== (sendBody === undefined)) {
      throw new Error(`operation ${operationId}: response ${status} must have a body if and only if it has content`)
    }
    if (headers !== undefined && headersOf === undefined) {
      throw new Error(`operation ${operationId}: response ${status} declares no headers that a handler may set`)
    }
    const texts = headersOf?.(headers) ?? none
    recordError(contextOf(reply.request.raw), errorNumber(status, body))
    reply.code(status)
    if (sendBody !== undefined) return sendBody(reply, { body, contentType, headers: texts })
    setHeaders(reply, texts)
    reply.send()
    return undefined
  }
}

/** Returns a function that sends the bodies of one response; `key` is Fastify's key for its status. */
function bodySender(key: string, content: Content, validator: Validator): SendBody {
  const senders = Object.entries(content).map(([mediaType, { schema }]): [string, SendBody] => {
    if (isRange(mediaType)) return [mediaType, rangeSender(key, mediaType, validator)]
    const kind = kindOf(mediaType)
    if (kind === 'events' || kind === 'lines') return [mediaType, sequenceSender(key, mediaType)]
    if (kind === 'json') return [mediaType, jsonSender(key, mediaType)]
    return [mediaType, kind === 'text' ? textSender(mediaType, schema, validator) : bytesSender(mediaType)]
  })
  const [[single, send] = ['', undefined], ...more] = senders
  if (send !== undefined && isRange(single)) return send
  const byType = new Map(senders)
  return (reply, given) => {
    const { contentType } = given
    const chosen = contentType === undefined && more.length === 0 ? send : byType.get(contentType as string)
    if (chosen === undefined) throw new Error(`contentType must be ${[...byType.keys()].join(' or ')}`)
    return chosen(reply, given)
  }
}

/** Returns the error number in the body of an error response. */
function errorNumber(status: number, body: unknown): number | undefined {
  if (status < 400) return undefined
  const { error } = (body ?? {}) as { error?: unknown }
  return typeof error === 'number' ? error : undefined
}
