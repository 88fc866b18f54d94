import { validateHeaderValue } from 'node:http'
import type { FastifyReply } from 'fastify'
import {
  contentTypeOf,
  isInRange,
  isRange,
  itemPrefix,
  kindOf,
  needsBoundary,
  rangeOf,
} from '../contract/media-types.ts'
import type { Content, Operation, ResponseHeader } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { addVary } from '../http/cors.ts'
import { contextOf, recordError } from '../http/request-context.ts'
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
import { stringifyJson } from '../json/json-document.ts'
import type { Validator } from '../schema/validator.ts'

/** The result of a handler, with `contentType` if the response has several media types or a range. */
export type HandlerResponse = { status: number; headers?: Record<string, unknown>; contentType?: string; body: unknown }

const noHeaders: HeaderTexts = []

/** How the responses of an operation are sent, by status as in the document. */
export type ResponseSenders = { operationId: string; responses: Record<string, ResponseSender> }

type ResponseSender = {
  /** Sends bodies for which the handler need not name the media type; undefined if the response has none or several. */
  send: SendBody | undefined
  /** The senders by media type. Undefined if the response has only a range: `send` then checks the media type. */
  senders: Map<string, SendBody> | undefined
  headersOf: WriteHeaders | undefined
}

/**
 * Returns how to send the responses of an operation. It is data, because functions for each of hundreds of operations
 * would not fit into the cache of the processor.
 */
export const responseSenders = (operation: Operation, validator: Validator): ResponseSenders => ({
  operationId: operation.operationId,
  responses: Object.fromEntries(
    Object.entries(operation.schema.response).map(([status, { content = {} }]) => [
      status,
      {
        ...bodySenders(status.toLowerCase(), content, validator),
        headersOf: headerWriter(operation, status, validator),
      },
    ]),
  ),
})

/**
 * Sends what the handler of an operation returned. If that does not match the document, the function throws, or for a
 * stream returns a promise that rejects.
 */
export function sendResponse(
  { operationId, responses }: ResponseSenders,
  reply: FastifyReply,
  { status, headers, contentType, body }: HandlerResponse,
): Promise<void> | undefined {
  const found = responses[responseKey(responses, status) ?? '']
  if (found === undefined) throw new Error(`operation ${operationId} has no response ${status}`)
  const { send, senders, headersOf } = found
  const hasContent = senders?.size !== 0
  if ((body === undefined) === hasContent) {
    throw new Error(`operation ${operationId}: response ${status} must have a body if and only if it has content`)
  }
  if (headers !== undefined && headersOf === undefined) {
    throw new Error(`operation ${operationId}: response ${status} declares no headers that a handler may set`)
  }
  const texts = headersOf?.(headers) ?? noHeaders
  recordError(contextOf(reply.request.raw), errorNumber(status, body))
  reply.code(status)
  if (hasContent) {
    const sendBody = contentType === undefined || senders === undefined ? send : senderOf(senders, contentType)
    if (sendBody === undefined)
      throw new Error(`contentType must be ${[...(senders as Map<string, SendBody>).keys()].join(' or ')}`)
    return sendBody(reply, { body, contentType, headers: texts })
  }
  setHeaders(reply, texts)
  reply.send()
  return undefined
}

/** Returns how to send a media type: as itself, with a boundary, or as one of the narrowest range that includes it. */
const senderOf = (senders: Map<string, SendBody>, contentType: string): SendBody | undefined =>
  senders.get(contentType) ??
  senders.get([...senders.keys()].find((each) => hasOwnBoundary(each, contentType)) as string) ??
  senders.get(rangeOf([...senders.keys()], contentType) as string)

/** Returns whether a media type is that of the document with a boundary. */
const hasOwnBoundary = (mediaType: string, contentType: string): boolean =>
  needsBoundary(mediaType) && contentType.startsWith(`${mediaType};`) && !needsBoundary(contentType)

/** Returns the key of the response for a status: the status, its range or default (OpenAPI 3.1 section 4.8.16). */
export function responseKey(responses: object, status: number | string): string | undefined {
  const key = String(status)
  if (Object.hasOwn(responses, key)) return key
  const range = `${key[0]}XX`
  if (Object.hasOwn(responses, range)) return range
  return Object.hasOwn(responses, 'default') ? 'default' : undefined
}

/**
 * Returns how to send the bodies of one response. `fastifyStatus` is its status as Fastify stores it: in lower case, such
 * as 4xx.
 */
function bodySenders(
  fastifyStatus: string,
  content: Content,
  validator: Validator,
): Pick<ResponseSender, 'send' | 'senders'> {
  const senders = Object.entries(content).map(([mediaType, { schema }]): [string, SendBody] => {
    if (isRange(mediaType)) return [mediaType, rangeSender(fastifyStatus, mediaType, validator)]
    const kind = kindOf(mediaType)
    if (kind === 'events' || kind === 'lines') return [mediaType, sequenceSender(fastifyStatus, mediaType)]
    if (kind === 'json') return [mediaType, jsonSender(fastifyStatus, mediaType)]
    if (needsBoundary(mediaType)) return [mediaType, multipartSender(mediaType)]
    return [mediaType, kind === 'text' ? textSender(mediaType, schema, validator) : bytesSender(mediaType)]
  })
  const [only] = senders
  if (only === undefined || senders.length > 1) return { send: undefined, senders: new Map(senders) }
  const [mediaType, send] = only
  return { send, senders: isRange(mediaType) ? undefined : new Map(senders) }
}

/** Returns the error number in the body of an error response. */
function errorNumber(status: number, body: unknown): number | undefined {
  if (status < 400) return undefined
  const { error } = (body ?? {}) as { error?: unknown }
  return typeof error === 'number' ? error : undefined
}

/** The body that a handler returned, with the texts of the response headers. */
type ResponseBody = { body: unknown; contentType: string | undefined; headers: HeaderTexts }

/** Sends a body. Throws or rejects, before anything is sent, if the body does not match the document. */
type SendBody = (reply: FastifyReply, body: ResponseBody) => Promise<void> | undefined

/** Returns a function that sends JSON as a media type or range. */
function jsonSender(fastifyStatus: string, mediaType: string): SendBody {
  const ownContentType = contentTypeOf(mediaType)
  let write: ((body: unknown) => string) | undefined
  return (reply, { body, contentType, headers }) => {
    // Fastify would send either as it is, without validation.
    if (body instanceof Uint8Array || isStream(body)) throw new Error('a JSON body must be neither bytes nor a stream')
    write ??= reply.getSerializationFunction(fastifyStatus, mediaType) as (body: unknown) => string
    const serializer = headers.length === 0 ? write : withHeaders(write, reply, headers)
    reply.type(contentType === undefined ? ownContentType : contentTypeOf(contentType))
    // Without an explicit serializer, Fastify would send a string body as it is, not as a JSON string.
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
function textSender(mediaType: string, schema: Schema, validator: Validator): SendBody {
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
const bytesSender =
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

/** Returns a function that sends bytes as a media type whose boundary the handler chooses. */
const multipartSender =
  (mediaType: string): SendBody =>
  (reply, given) => {
    const { contentType = '' } = given
    if (!hasOwnBoundary(mediaType, contentType))
      throw new Error(`contentType must be ${mediaType} with the boundary of the body: ${mediaType}; boundary=TEXT`)
    validateHeaderValue('content-type', contentType)
    return bytesSender(mediaType)(reply, given)
  }

/** Milliseconds between keep-alive comments. Without them, proxies or this service would close an idle stream. */
const keepAliveInterval = 15_000

/**
 * Milliseconds to wait for the first event before the response head is sent without one. An error in this time still
 * gets an error response. A longer wait would delay clients that need the head to continue.
 */
const firstEventTimeout = 200

/**
 * Returns a function that sends server-sent events, JSON Lines or a JSON text sequence. At shutdown it ends an event
 * stream, since the client reconnects. Only the handler ends the others, because a client could not tell an early end
 * from a complete list.
 */
const sequenceSender =
  (fastifyStatus: string, mediaType: string): SendBody =>
  (reply, { body, headers }) => {
    const write = reply.getSerializationFunction(fastifyStatus, mediaType) as (item: unknown) => string
    const { signal, gone } = streamScope(reply.request.raw)
    if (!isStream(body)) throw new Error(`a body of ${mediaType} must be an async iterable`)
    const begin = () => {
      setHeaders(reply, headers)
      reply.type(mediaType)
    }
    if (kindOf(mediaType) === 'lines') {
      const prefix = itemPrefix(mediaType)
      return sendSource(reply, body, { write: (item) => `${prefix}${write(item)}\n`, end: gone }, begin)
    }
    const events = body as AsyncIterable<ServerSentEvent>
    const keepAlive = { opening: firstEventTimeout, time: keepAliveInterval, text: keepAliveComment }
    return sendSource(reply, events, { write: (event) => serializeEvent(event, write), end: signal, keepAlive }, begin)
  }

/** Sends the items of a source, or for a HEAD request only the headers. */
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
  throw new Error('each item of a stream must be a Uint8Array')
}

/** Returns whether a body is a stream or another async iterable. */
export const isStream = (body: unknown): body is ByteStream =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body

/**
 * Returns a function that sends bodies of a media type range. Only JSON is validated against the schema.
 */
function rangeSender(fastifyStatus: string, range: string, validator: Validator): SendBody {
  const sendJson = jsonSender(fastifyStatus, range)
  return (reply, given) => {
    const { body, contentType = '' } = given
    if (!isInRange(range, contentType)) throw new Error(`contentType must be a media type within ${range}`)
    validateHeaderValue('content-type', contentType)
    if (body instanceof Uint8Array || isStream(body)) return bytesSender(contentType)(reply, given)
    if (kindOf(contentType) === 'json') return sendJson(reply, given)
    return textSender(contentType, true, validator)(reply, given)
  }
}

/** The names and texts of response headers, in the form that Node.js takes. */
type HeaderTexts = [name: string, text: string | string[]][]

/** Validates and serializes the headers that a handler returned. */
type WriteHeaders = (given: Record<string, unknown> | undefined) => HeaderTexts

/**
 * Returns a function that validates and serializes the headers of one response of an operation; `status` is its key in
 * the document. It throws for a header that is missing, undeclared or invalid under its schema. Undefined if the
 * response declares no headers.
 */
function headerWriter(
  { operationId, schema: { response }, responseHeaders = {} }: Operation,
  status: string,
  validator: Validator,
): WriteHeaders | undefined {
  const declared = responseHeaders[status]
  if (declared === undefined) return undefined
  const schemas = response[status]?.headers as Record<string, Schema>
  const checks = new Map(
    declared.map(({ name }) => [name, validator.response(schemas[name] as Schema, `header ${name}`)]),
  )
  return (given = {}) => {
    const unknown = Object.keys(given).find((name) => !checks.has(name))
    if (unknown !== undefined)
      throw new Error(`operation ${operationId}: response ${status} declares no header ${unknown}`)
    return declared.flatMap((header): HeaderTexts => {
      const { name, isRequired } = header
      const value = Object.hasOwn(given, name) ? given[name] : undefined
      if (value === undefined) {
        if (!isRequired) return []
        throw new Error(`operation ${operationId}: response ${status} requires the header ${name}`)
      }
      checks.get(name)?.(value)
      return [[name, headerText(header, value)]]
    })
  }
}

/**
 * Serializes the value of a header: as JSON, or in the style `simple` (OpenAPI 3.1 section 4.8.12.3). Throws for a character that is
 * invalid in a header.
 */
function headerText({ name, explode, isJson }: ResponseHeader, value: unknown): string | string[] {
  if (isJson) return checkedHeader(name, asciiJson(value))
  // Set-Cookie headers must not be joined into one (RFC 6265 section 3).
  if (Array.isArray(value) && name.toLowerCase() === 'set-cookie')
    return value.map((one) => checkedHeader(name, scalar(one)))
  if (Array.isArray(value)) return checkedHeader(name, value.map(scalar).join())
  if (typeof value !== 'object' || value === null) return checkedHeader(name, scalar(value))
  const members = Object.entries(value).map(([key, member]) => `${key}${explode ? '=' : ','}${scalar(member)}`)
  return checkedHeader(name, members.join())
}

/** Serializes a value to JSON in ASCII, since other characters are not portable in a header (RFC 9110 section 5.5). */
const asciiJson = (value: unknown): string =>
  `${stringifyJson(value)}`.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const scalar = (value: unknown): string => (typeof value === 'string' ? value : `${stringifyJson(value)}`)

function checkedHeader(name: string, text: string): string {
  validateHeaderValue(name, text)
  return text
}

/**
 * Sets the headers of a response. Names that Vary already lists are kept, since caches rely on them, and so are links
 * that announce the end of the operation.
 */
function setHeaders(reply: FastifyReply, headers: HeaderTexts): void {
  for (const [name, text] of headers) {
    const key = name.toLowerCase()
    if (key === 'vary') addVary(reply, String(text))
    else reply.header(name, key === 'link' && reply.hasHeader(key) ? `${reply.getHeader(key)}, ${text}` : text)
  }
}
