import { validateHeaderValue } from 'node:http'
import type { FastifyReply } from 'fastify'
import { emptyEvent, eventText, type ServerSentEvent } from '../http/event-text.ts'
import { sendHead, sendStream } from '../http/send-stream.ts'
import { type ByteStream, endSource, type Parts, streamParts } from '../http/stream-parts.ts'
import { streamScope } from '../http/stream-scope.ts'
import { contentTypeOf, holds, kindOf } from './media-types.ts'
import { type HeaderTexts, setHeaders } from './reply-headers.ts'
import type { Schema } from './schema-keywords.ts'
import type { Validator } from './validator.ts'

/** The body of an answer as its handler gives it, with the texts of its headers. */
export type ReplyBody = { body: unknown; contentType: string | undefined; headers: HeaderTexts }

/** Sends a body; throws, or rejects, before anything is sent when it is not what the document says. */
export type SendBody = (reply: FastifyReply, body: ReplyBody) => Promise<void> | undefined

/** Returns what sends JSON of a media type, or of a range; `key` is what Fastify has for the status of the response. */
export function jsonSender(key: string, mediaType: string): SendBody {
  const ownContentType = contentTypeOf(mediaType)
  let write: ((body: unknown) => string) | undefined
  return (reply, { body, contentType, headers }) => {
    write ??= reply.getSerializationFunction(key, mediaType) as (body: unknown) => string
    // Named here, it writes a body that is a string, too: Fastify takes one for text that is written already.
    const serializer = headers.length === 0 ? write : withHeaders(write, reply, headers)
    reply.type(contentType === undefined ? ownContentType : contentTypeOf(contentType))
    reply.serializer(serializer).send(body)
    return undefined
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

/** Returns what sends text, or the bytes of text, of a media type. A text is checked against its schema. */
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

/** Returns what sends bytes of a media type, whole or as a stream. */
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
    if (!isStream(body)) throw new Error(`a body of ${contentType} must be a Uint8Array or an async iterable of them`)
    return sendSource(reply, body, { write: bytesOf, end: streamScope(reply.request.raw).gone }, begin)
  }

/** Milliseconds after which a silent stream of events shows that it lives: proxies and this service close idle connections. */
const silence = 15_000

/** Milliseconds in which the first event may still fail with an error: then the head is sent, for which clients wait. */
const opening = 200

/**
 * Returns what sends a stream of events, or of JSON Lines. At a shutdown the one ends, since its client reconnects; of the
 * other the end would look like that of its items, so its handler ends it.
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
    const keepAlive = { opening, time: silence, text: emptyEvent }
    return sendSource(reply, events, { write: (event) => eventText(event, write), end: signal, keepAlive }, begin)
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

/** Returns what sends bodies of a range of media types: bytes as they are, text, or JSON by the schema. */
export function rangeSender(key: string, range: string, validator: Validator): SendBody {
  const sendJson = jsonSender(key, range)
  return (reply, given) => {
    const { body, contentType = '' } = given
    if (!holds(range, contentType)) throw new Error(`contentType must be a media type of ${range}`)
    validateHeaderValue('content-type', contentType)
    if (body instanceof Uint8Array || isStream(body)) return bytesSender(contentType)(reply, given)
    if (kindOf(contentType) === 'json') return sendJson(reply, given)
    return textSender(contentType, true, validator)(reply, given)
  }
}
