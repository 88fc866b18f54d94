import type { FastifyReply } from 'fastify'
import { contentTypeOf } from '../contract/media-types.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import type { Validator } from '../schema/validator.ts'
import type { ResponseBody, SendBody } from './body-senders.ts'
import { type HeaderTexts, setHeaders } from './response-headers.ts'
import { bytesSender, isStream } from './streamed-body.ts'

/** Returns a function that sends JSON as a media type or range. The serializer throws for an invalid body. */
export function jsonSender(fastifyStatus: string, mediaType: string): SendBody {
  const ownContentType = contentTypeOf(mediaType)
  let write: ((body: unknown) => string) | undefined
  return sendJson

  function sendJson(reply: FastifyReply, { body, contentType, headers }: ResponseBody): undefined {
    // Fastify would send either as it is, without validation.
    if (body instanceof Uint8Array || isStream(body)) throw new Error('a JSON body must be neither bytes nor a stream')
    write ??= reply.getSerializationFunction(fastifyStatus, mediaType) as (body: unknown) => string
    const serializer = headers.length === 0 ? write : withHeaders(write, reply, headers)
    reply.type(contentType === undefined ? ownContentType : contentTypeOf(contentType))
    // Without an explicit serializer, Fastify would send a string body as it is, not as a JSON string.
    reply.serializer(serializer).send(body)
  }
}

/** Sets the headers after the body was serialized, so that a serialization error is sent without them. */
const withHeaders =
  (write: (body: unknown) => string, reply: FastifyReply, headers: HeaderTexts) =>
  (body: unknown): string => {
    const text = write(body)
    setHeaders(reply, headers)
    return text
  }

/** Returns a function that sends text as a media type: a string, validated against the schema, or bytes. */
export function textSender(mediaType: string, schema: Schema, validator: Validator): SendBody {
  const assertValid = validator.response(schema)
  const sendBytes = bytesSender(mediaType)
  return sendText

  function sendText(reply: FastifyReply, given: ResponseBody) {
    if (typeof given.body !== 'string') return sendBytes(reply, given)
    assertValid(given.body)
    setHeaders(reply, given.headers)
    reply.type(contentTypeOf(mediaType)).send(given.body)
    return undefined
  }
}
