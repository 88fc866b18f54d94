import type { FastifyReply } from 'fastify'
import { contextOf, recordError } from '../http/request-context.ts'
import { type HeaderTexts, headerWriter, setHeaders } from './reply-headers.ts'
import type { Operation } from './routes.ts'
import type { Validator } from './validator.ts'

const none: HeaderTexts = []

/** What a handler returns. */
export type Outcome = { status: number; headers?: Record<string, unknown>; body: unknown }

/**
 * Returns what sends the outcomes of an operation's handler, each as the response that it is: that of its status, of the
 * range of its status, or the default one (OpenAPI 3.1 section 4.8.16). It throws for any other.
 */
export function responseSender(operation: Operation, validator: Validator) {
  const { operationId, schema } = operation
  const responses = Object.fromEntries(
    Object.entries(schema.response).map(([status, { content = {} }]) => [
      status,
      {
        key: status.toLowerCase(),
        mediaType: Object.keys(content)[0],
        headersOf: headerWriter(operation, status, validator),
      },
    ]),
  )
  return (reply: FastifyReply, { status, headers, body }: Outcome): void => {
    const found = responses[status] ?? responses[`${Math.trunc(status / 100)}XX`] ?? responses.default
    if (found === undefined) throw new Error(`operation ${operationId} has no response ${status}`)
    const { key, mediaType, headersOf } = found
    if ((body === undefined) !== (mediaType === undefined)) {
      throw new Error(`operation ${operationId}: response ${status} has a body if and only if it has content`)
    }
    if (headers !== undefined && headersOf === undefined) {
      throw new Error(`operation ${operationId}: response ${status} declares no headers for a handler to give`)
    }
    const texts = headersOf?.(headers) ?? none
    recordError(contextOf(reply.request.raw), errorNumber(status, body))
    reply.code(status)
    if (mediaType === undefined) {
      setHeaders(reply, texts)
      reply.send()
      return
    }
    const write = reply.getSerializationFunction(key, mediaType) as (body: unknown) => string
    // Named here, it writes a body that is a string, too: Fastify takes one for text that is written already.
    reply
      .type(`${mediaType}; charset=utf-8`)
      .serializer(texts.length === 0 ? write : withHeaders(write, reply, texts))
      .send(body)
  }
}

/** Sets the headers once the body is written: the error for a body that cannot be has none of them. */
const withHeaders =
  (write: (body: unknown) => string, reply: FastifyReply, headers: HeaderTexts) =>
  (body: unknown): string => {
    const text = write(body)
    setHeaders(reply, headers)
    return text
  }

/** Returns the number of an error's body. */
function errorNumber(status: number, body: unknown): number | undefined {
  if (status < 400) return undefined
  const { error } = (body ?? {}) as { error?: unknown }
  return typeof error === 'number' ? error : undefined
}
