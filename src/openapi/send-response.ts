import type { FastifyReply } from 'fastify'
import { contextOf, recordError } from '../http/request-context.ts'
import type { Operation } from './routes.ts'

/** What a handler returns. */
export type Outcome = { status: number; body: unknown }

/**
 * Returns what sends the outcomes of an operation's handler, each as the response that it is: that of its status, of the
 * range of its status, or the default one (OpenAPI 3.1 section 4.8.16). It throws for any other.
 */
export function responseSender({ operationId, schema: { response } }: Operation) {
  const responses = Object.fromEntries(
    Object.entries(response).map(([status, { content = {} }]) => [
      status,
      { key: status.toLowerCase(), mediaType: Object.keys(content)[0] },
    ]),
  )
  return (reply: FastifyReply, { status, body }: Outcome): void => {
    const found = responses[status] ?? responses[`${Math.trunc(status / 100)}XX`] ?? responses.default
    if (found === undefined) throw new Error(`operation ${operationId} has no response ${status}`)
    const { key, mediaType } = found
    if ((body === undefined) !== (mediaType === undefined)) {
      throw new Error(`operation ${operationId}: response ${status} has a body if and only if it has content`)
    }
    recordError(contextOf(reply.request.raw), errorNumber(status, body))
    reply.code(status)
    if (mediaType === undefined) reply.send()
    // Named here, it writes a body that is a string, too: Fastify takes one for text that is written already.
    else
      reply
        .type(`${mediaType}; charset=utf-8`)
        .serializer(reply.getSerializationFunction(key, mediaType) as never)
        .send(body)
  }
}

/** Returns the number of an error's body. */
function errorNumber(status: number, body: unknown): number | undefined {
  if (status < 400) return undefined
  const { error } = (body ?? {}) as { error?: unknown }
  return typeof error === 'number' ? error : undefined
}
