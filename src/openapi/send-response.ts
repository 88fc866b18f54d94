import type { FastifyReply } from 'fastify'
import { contextOf, recordError } from '../http/request-context.ts'
import { bytesSender, jsonSender, rangeSender, type SendBody, sequenceSender, textSender } from './body-senders.ts'
import { isRange, kindOf } from './media-types.ts'
import { type HeaderTexts, headerWriter, setHeaders } from './reply-headers.ts'
import type { Content, Operation } from './routes.ts'
import type { Validator } from './validator.ts'

/** What a handler returns; `contentType` where the response has several media types, or a range of them. */
export type Outcome = { status: number; headers?: Record<string, unknown>; contentType?: string; body: unknown }

const none: HeaderTexts = []

/**
 * Returns what sends the outcomes of an operation's handler, each as the response that it is: that of its status, of the
 * range of its status, or the default one (OpenAPI 3.1 section 4.8.16). It throws for any other, or rejects for a stream.
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
      throw new Error(`operation ${operationId}: response ${status} has a body if and only if it has content`)
    }
    if (headers !== undefined && headersOf === undefined) {
      throw new Error(`operation ${operationId}: response ${status} declares no headers for a handler to give`)
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

/** Returns what sends the bodies of one response; `key` is what Fastify has for its status. */
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

/** Returns the number of an error's body. */
function errorNumber(status: number, body: unknown): number | undefined {
  if (status < 400) return undefined
  const { error } = (body ?? {}) as { error?: unknown }
  return typeof error === 'number' ? error : undefined
}
