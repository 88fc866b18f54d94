import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { contentTypeOf, kindOf } from '../contract/media-types.ts'
import type { Operation } from '../contract/routes.ts'
import type { EntityTag } from '../preconditions/entity-tags.ts'
import { setHeaders } from './response-headers.ts'
import { type HandlerResponse, responseKey, type sendWith } from './send-response.ts'

/** A response whose ETag is a digest of its body, and how it is sent if its body is serialized already. */
type Digested = { response: HandlerResponse; sendBody?: typeof sendWith }

/**
 * Returns a response of an operation with a strong entity tag: a digest of the media type and the bytes of its body. Throws
 * for a stream, whose bytes are not known before they are sent, and for JSON that does not match its schema.
 */
export function digestedResponse(
  { operationId, schema, responseHeaders = {} }: Operation,
  reply: FastifyReply,
  response: HandlerResponse,
): Digested {
  const { status, body, headers } = response
  const key = responseKey(schema.response, status) ?? ''
  const name = responseHeaders[key]?.find((header) => header.name.toLowerCase() === 'etag')?.name
  const content = schema.response[key]?.content ?? {}
  const types = Object.keys(content)
  const { contentType = types.length === 1 ? types[0] : undefined } = response
  if (name === undefined || contentType === undefined || body === undefined) return { response }
  const isText = typeof body === 'string' && kindOf(contentType) !== 'json'
  if (isText || body instanceof Uint8Array)
    return { response: { ...response, headers: { ...headers, [name]: digestTag(contentType, body) } } }
  if (kindOf(contentType) !== 'json' || !Object.hasOwn(content, contentType))
    throw new Error(`operation ${operationId}: x-etag needs a whole body of a media type that the document names`)
  const serialize = reply.getSerializationFunction(key.toLowerCase(), contentType) as (body: unknown) => string
  const text = serialize(body)
  return {
    response: { ...response, headers: { ...headers, [name]: digestTag(contentType, text) } },
    sendBody: function sendText(_sender, reply, _response, texts) {
      setHeaders(reply, texts)
      reply.code(status).type(contentTypeOf(contentType)).serializer(String).send(text)
      return undefined
    },
  }
}

/** Returns a strong tag: bytes of one media type have another tag than the same bytes of another one. */
const digestTag = (contentType: string, body: string | Uint8Array): EntityTag =>
  `"${createHash('sha256').update(`${contentType}\n`).update(body).digest('base64url')}"`
