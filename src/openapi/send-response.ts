import type { FastifyReply } from 'fastify'
import type { Document, Endpoint, Located, Response } from './document.ts'
import { serializer } from './response-serializer.ts'
import type { Validation } from './validator.ts'

/** What a handler gives. */
export type Outcome = { status: number; body: unknown }

/**
 * Takes an operation; gives what checks the outcomes of its handler and sends them, each as the response that it is: that
 * of its status, of the range of its status, or the default one (OpenAPI 3.1 section 4.8.16). Throws for any other.
 */
export function replySender(document: Document, { operationId, responses }: Endpoint, validation: Validation) {
  const writers = Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, bodyWriter(document, response, validation)]),
  )
  return (reply: FastifyReply, { status, body }: Outcome): void => {
    const writer = writers[status] ?? writers[`${Math.trunc(status / 100)}XX`] ?? writers.default
    if (writer === undefined) throw new Error(`operation ${operationId} has no response ${status}`)
    const { mediaType, write } = writer
    if ((body === undefined) !== (mediaType === undefined)) {
      throw new Error(`operation ${operationId}: response ${status} has a body if and only if it has content`)
    }
    reply.code(status)
    if (mediaType === undefined) reply.send()
    // As text: Fastify takes a value that is a string for one that is written already.
    else reply.type(mediaType).send(write(body))
  }
}

function bodyWriter(document: Document, response: Located<Response>, validation: Validation) {
  const [[mediaType, { schema = {} }] = [undefined, {}]] = Object.entries(response.content ?? {})
  if (mediaType === undefined) return { mediaType, write: String }
  // Compiled for the first reply: a large document would keep the start waiting for what may never be said.
  let assertValid: ((value: unknown) => void) | undefined
  const serialize = serializer(document, schema)
  const write = (value: unknown): string => {
    assertValid ??= validation.response(response, mediaType)
    assertValid(value)
    return serialize(value)
  }
  return { mediaType, write }
}
