import type { FastifyInstance } from 'fastify'
import { bodyTooLarge, ContractError } from '../contract/errors.ts'
import { essenceOf, isRange, requestKindOf } from '../contract/media-types.ts'
import type { Operation } from '../contract/routes.ts'
import { decodeUtf8 } from '../http/decode-utf8.ts'
import { type BodyReader, type ParseBody, wholeBodyReader } from '../http/read-body.ts'
import type { Hook } from '../http/request-guards.ts'
import { contentLength, hasBody } from '../http/request-head.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { contentRejection, isBodyReadByHandler } from './content-type.ts'
import { formParser } from './form-body.ts'
import { parseJsonBody } from './json-body.ts'
import type { BodyBounds } from './multipart-body.ts'

/**
 * Replaces the content type parsers of an app: only the media types of its operations are accepted. A parser reads the
 * body whole, or leaves it unread for the handler. Bodies above the limits get 413.
 */
export function acceptBodies(app: FastifyInstance, operations: Operation[], bounds: BodyBounds): void {
  const { limits, memory } = bounds
  const mediaTypes = operations.flatMap(({ schema }) => Object.keys(schema.body?.content ?? {}))
  const essences = new Set(mediaTypes.filter((mediaType) => !isRange(mediaType)).map(essenceOf))
  const mayBeStreamed = mediaTypes.some(isReadOtherwise)
  const rejectContent = emptyBodyReader(bounds)
  const leaveUnread: BodyReader = ({ headers }, _payload, done) =>
    done(contentLength(headers) > limits.upload ? bodyTooLarge(limits.upload) : null)
  /** Returns a reader that leaves a body unread if its handler reads it. */
  const unlessStreamed =
    (read: BodyReader): BodyReader =>
    (request, payload, done) =>
      (isBodyReadByHandler(request.raw) ? leaveUnread : read)(request, payload, done)
  const whole = (parse: ParseBody): BodyReader => {
    const read = wholeBodyReader(parse, { limit: limits.body, headersLimit: limits.headers, memory })
    return mayBeStreamed ? unlessStreamed(read) : read
  }
  const readers = {
    json: whole(parseJsonBody),
    text: whole(parseText),
    form: whole(formParser(limits.formFields)),
    multipart: leaveUnread,
    bytes: leaveUnread,
  }
  app.removeAllContentTypeParsers()
  for (const essence of essences) app.addContentTypeParser(essence, unlessReplaced(readers[requestKindOf(essence)]))
  app.addContentTypeParser('*', unlessReplaced(unlessStreamed(rejectContent)))
}

/** Returns a reader that fails if a hook has replaced the body: the readers read that of the connection. */
const unlessReplaced =
  (read: BodyReader): BodyReader =>
  (request, payload, done) => {
    if (payload === request.raw) read(request, payload, done)
    else done(new Error('a preParsing hook has replaced the body, but the body of an operation is read as it was sent'))
  }

/** Returns whether bodies of a range or a charset are read otherwise than those of the media type without parameters. */
const isReadOtherwise = (mediaType: string): boolean =>
  isRange(mediaType) || requestKindOf(mediaType) !== requestKindOf(essenceOf(mediaType))

const hasBodyOfGet = ({ method, schema }: Operation): boolean => method === 'GET' && schema.body !== undefined

/**
 * If an operation of a server is a GET with a body, lets Fastify read the bodies of GET, and of HEAD, which it serves by the
 * same routes. Other routes ignore them as before. The raw headers stay, since they say what follows on the connection.
 */
export function acceptBodiesOfGet(app: FastifyInstance, operations: Operation[]): void {
  if (!operations.some(hasBodyOfGet)) return
  const hidden = { 'content-type': undefined, 'content-length': undefined, 'transfer-encoding': undefined }
  for (const method of ['GET', 'HEAD']) app.addHttpMethod(method, { hasBody: true, overrideExisting: true })
  const hideBody: Hook = (request, _reply, done) => {
    const { method, headers, routeOptions } = request
    const isIgnored = (method === 'GET' || method === 'HEAD') && Object(routeOptions.schema).body === undefined
    if (isIgnored && (hasBody(headers) || headers['content-type'] !== undefined)) request.headers = hidden
    done()
  }
  app.addHook('onRequest', hideBody)
}

/** Returns a reader that accepts only an empty body, which is none (RFC 9110 section 6.4); other content gets 415. */
function emptyBodyReader({ limits, memory }: BodyBounds): BodyReader {
  const read = wholeBodyReader(() => undefined, { limit: 0, headersLimit: limits.headers, memory })
  return (request, payload, done) =>
    read(request, payload, (error) => {
      const isContent = error instanceof ContractError && error.kind === 'bodyTooLarge'
      done(isContent ? (contentRejection(request.raw) ?? unexpectedContent()) : error)
    })
}

const unexpectedContent = () => new ContractError('unsupportedMediaType', 'the operation has no body; send none')

/** Parses a text body to a JsonDocument that holds one string. */
export function parseText(bytes: Buffer): JsonDocument {
  const text = decodeUtf8(bytes, 'body')
  return { value: text, length: text.length }
}
