import { validateHeaderValue } from 'node:http'
import type { FastifyReply } from 'fastify'
import { contentTypeOf, itemPrefix, needsBoundary } from '../contract/media-types.ts'
import {
  type ByteStream,
  endSource,
  keepAliveComment,
  type Parts,
  type ServerSentEvent,
  sendHead,
  sendStream,
  serializeEvent,
  streamParts,
  streamScope,
} from '../http/streams.ts'
import type { ResponseBody, SendBody } from './body-senders.ts'
import { type HeaderTexts, setHeaders } from './response-headers.ts'

/** Returns a function that sends bytes as a media type, whole or as a stream. */
export function bytesSender(mediaType: string): SendBody {
  return sendBytes

  function sendBytes(reply: FastifyReply, { body, contentType = mediaType, headers }: ResponseBody) {
    const head = { contentType: contentTypeOf(contentType), headers }
    if (body instanceof Uint8Array) {
      setHead(reply, head)
      reply.send(body)
      return undefined
    }
    if (!isStream(body))
      throw new Error(`a ${contentType} body must be a Uint8Array or an async iterable of Uint8Array`)
    return sendSource(reply, head, body, { write: bytesOf, end: streamScope(reply.request.raw).gone })
  }
}

/** The head of a response, which is sent when the first part of its body is known. */
type Head = { contentType: string; headers: HeaderTexts }

function setHead(reply: FastifyReply, { contentType, headers }: Head): void {
  setHeaders(reply, headers)
  reply.type(contentType)
}

/** Returns whether a media type is that of the document with a boundary. */
export const hasOwnBoundary = (mediaType: string, contentType: string): boolean =>
  needsBoundary(mediaType) && contentType.startsWith(`${mediaType};`) && !needsBoundary(contentType)

/** Returns a function that sends bytes as a media type whose boundary the handler chooses. */
export function multipartSender(mediaType: string): SendBody {
  const sendBytes = bytesSender(mediaType)
  return sendParts

  function sendParts(reply: FastifyReply, given: ResponseBody) {
    const { contentType = '' } = given
    if (!hasOwnBoundary(mediaType, contentType))
      throw new Error(`contentType must be ${mediaType} with the boundary of the body: ${mediaType}; boundary=TEXT`)
    validateHeaderValue('content-type', contentType)
    return sendBytes(reply, given)
  }
}

/**
 * The header that makes nginx send each item at once. By default it waits until its buffer is full or the stream ends.
 * Streams of bytes lack it: nginx should take a download at once and pass it on to a slow client.
 */
const unbuffered: HeaderTexts[number] = ['X-Accel-Buffering', 'no']

/** Milliseconds between keep-alive comments. Without them, proxies or this service would close an idle stream. */
const keepAliveInterval = 15_000

/**
 * Milliseconds to wait for the first event before the response head is sent without one. An error in this time still
 * gets an error response. A longer wait would delay clients that need the head to continue.
 */
const firstEventTimeout = 200

/**
 * Returns a function that sends server-sent events. Shutdown ends their stream, since the client reconnects.
 */
export function eventSender(fastifyStatus: string, mediaType: string): SendBody {
  const keepAlive = { opening: firstEventTimeout, time: keepAliveInterval, text: keepAliveComment }
  return sendEvents

  function sendEvents(reply: FastifyReply, { body, headers }: ResponseBody) {
    const write = itemWriter(reply, fastifyStatus, mediaType)
    const events = sourceOf<ServerSentEvent>(body, mediaType)
    const end = streamScope(reply.request.raw).signal
    const parts = { write: (event: ServerSentEvent) => serializeEvent(event, write), end, keepAlive }
    return sendSource(reply, { contentType: mediaType, headers: [unbuffered, ...headers] }, events, parts)
  }
}

/**
 * Returns a function that sends JSON Lines or a JSON text sequence. Only the handler ends them, because a client could
 * not tell an early end from a complete list.
 */
export function lineSender(fastifyStatus: string, mediaType: string): SendBody {
  const prefix = itemPrefix(mediaType)
  return sendLines

  function sendLines(reply: FastifyReply, { body, headers }: ResponseBody) {
    const write = itemWriter(reply, fastifyStatus, mediaType)
    const items = sourceOf(body, mediaType)
    const end = streamScope(reply.request.raw).gone
    const parts = { write: (item: unknown) => `${prefix}${write(item)}\n`, end }
    return sendSource(reply, { contentType: mediaType, headers: [unbuffered, ...headers] }, items, parts)
  }
}

/** Returns the function that validates and serializes an item of a body. */
const itemWriter = (reply: FastifyReply, fastifyStatus: string, mediaType: string) =>
  reply.getSerializationFunction(fastifyStatus, mediaType) as (item: unknown) => string

function sourceOf<Item>(body: unknown, mediaType: string): AsyncIterable<Item> {
  if (!isStream(body)) throw new Error(`a body of ${mediaType} must be an async iterable`)
  return body as AsyncIterable<Item>
}

/** Sends the items of a source, or for a HEAD request only the headers. */
function sendSource<Item>(
  reply: FastifyReply,
  head: Head,
  source: AsyncIterable<Item>,
  parts: Parts<Item>,
): Promise<void> | undefined {
  if (reply.request.method !== 'HEAD') return sendStream(reply, streamParts(source, parts), () => setHead(reply, head))
  endSource(source)
  setHead(reply, head)
  sendHead(reply)
  return undefined
}

function bytesOf(part: unknown): Uint8Array {
  if (part instanceof Uint8Array) return part
  throw new Error('each item of a stream must be a Uint8Array')
}

/** Returns whether a body is a stream or another async iterable. */
export const isStream = (body: unknown): body is ByteStream =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body
