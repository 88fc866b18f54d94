import { validateHeaderValue } from 'node:http'
import type { FastifyReply } from 'fastify'
import { sendHead, sendStream } from '../http/send-stream.ts'
import { keepAliveComment, type ServerSentEvent, serializeEvent } from '../http/server-sent-events.ts'
import { type ByteStream, endSource, type Parts, streamParts } from '../http/stream-parts.ts'
import { streamScope } from '../http/stream-scope.ts'
import { contentTypeOf, isInRange, kindOf } from './media-types.ts'
import { type HeaderTexts, setHeaders } from './response-header-writer.ts'
import type { Schema } from './schema-keywords.ts'
import type { Validator } from './validator.ts'

/** The body that a handler returned, with the texts of the response headers. */
export type ResponseBody = { body: unknown; contentType: string | undefined; headers: HeaderTexts }

/** Sends a body. Throws or rejects, before anything is sent, if the body does not match the document. */
export type SendBody = (reply: FastifyReply, body: ResponseBody) => Promise<void> | undefined

/** Returns a function that sends JSON as a media type or range; `key` is Fastify's key for the response status. */
export function jsonSender(key: string, mediaType: string): SendBody {
  const ownContentType = contentTypeOf(mediaType)
  let write: ((body: unknown) => string) | undefined
  return (reply, { body, contentType, headers }) => {
    write ??= reply.getSerializationFunction(key, mediaType) as (body: unknown) => string
    // Without an explicit serializer, Fastify would send a string body as it is, not as a JSON string.
    const serializer = headers.length === 0 ? write : withHeaders(write, reply, headers)
    reply.type(contentType === undefined ? ownContentType : contentTypeOf(contentType))
    reply.serializer(serializer).send(body)
    return undefined
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
  return (reply, given) => {
    if (typeof given.body !== 'string') return sendBytes(reply, given)
    assertValid(given.body)
    setHeaders(reply, given.headers)
    reply.type(contentTypeOf(mediaType)).send(given.body)
    return undefined
  }
}

/** Returns a function that sends bytes as a media type, whole or as a stream. */
export const bytesSender =
  (mediaType: string): SendBody =>
  (reply, { body, contentType = mediaType, headers }) => {
    const begin = () => {
      setHeaders(reply, headers)
      reply.type(contentTypeOf(contentType))
    }
    if (body instanceof Uint8Array) {
      begin()
      reply.send(body)
      return undefined
    }
    if (!isStream(body))
      throw new Error(`a ${contentType} body must be a Uint8Array or an async iterable of Uint8Array`)
    return sendSource(reply, body, { write: bytesOf, end: streamScope(reply.request.raw).gone }, begin)
  }

/** Milliseconds between keep-alive comments. Without them, proxies or this service would close an idle stream. */
const silence = 15_000

/**
 * Milliseconds to wait for the first event before the response head is sent without one. An error in this time still
 * gets an error response. A longer wait would delay clients that need the head to continue.
 */
const opening = 200

/**
 * Returns a function that sends server-sent events or JSON Lines. At shutdown it ends an event stream, since the client
 * reconnects. Only the handler ends JSON Lines, because a client could not tell an early end from a complete list.
 */
export const sequenceSender =
  (key: string, mediaType: string): SendBody =>
  (reply, { body, headers }) => {
    const write = reply.getSerializationFunction(key, mediaType) as (item: unknown) => string
    const { signal, gone } = streamScope(reply.request.raw)
    if (!isStream(body)) throw new Error(`a body of ${mediaType} must be an async iterable`)
    const begin = () => {
      setHeaders(reply, headers)
      reply.type(mediaType)
    }
    if (kindOf(mediaType) === 'lines') {
      return sendSource(reply, body, { write: (item) => `${write(item)}\n`, end: gone }, begin)
    }
    const events = body as AsyncIterable<ServerSentEvent>
    const keepAlive = { opening, time: silence, text: keepAliveComment }
    return sendSource(reply, events, { write: (event) => serializeEvent(event, write), end: signal, keepAlive }, begin)
  }

function sendSource<Item>(
  reply: FastifyReply,
  source: AsyncIterable<Item>,
  parts: Parts<Item>,
  begin: () => void,
): Promise<void> | undefined {
  if (reply.request.method !== 'HEAD') return sendStream(reply, streamParts(source, parts), begin)
  endSource(source)
  begin()
  sendHead(reply)
  return undefined
}

function bytesOf(part: unknown): Uint8Array {
  if (part instanceof Uint8Array) return part
  throw new Error('a part of a stream must be a Uint8Array')
}

/** Returns whether a body is a stream or another async iterable. */
export const isStream = (body: unknown): body is ByteStream =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body

/**
 * Returns a function that sends bodies of a media type range. Only JSON is validated against the schema.
 */
export function rangeSender(key: string, range: string, validator: Validator): SendBody {
  const sendJson = jsonSender(key, range)
  return (reply, given) => {
    const { body, contentType = '' } = given
    if (!isInRange(range, contentType)) throw new Error(`contentType must be a media type within ${range}`)
    validateHeaderValue('content-type', contentType)
    if (body instanceof Uint8Array || isStream(body)) return bytesSender(contentType)(reply, given)
    if (kindOf(contentType) === 'json') return sendJson(reply, given)
    return textSender(contentType, true, validator)(reply, given)
  }
}
