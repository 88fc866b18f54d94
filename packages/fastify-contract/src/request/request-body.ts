import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  bodyTypeFinder,
  essenceOf,
  type GivenType,
  isPlainJson,
  isRange,
  isReadByHandler,
  itemPrefix,
  kindOf,
  mayReadBody,
  recordSeparator,
  requestKindOf,
} from '../contract/media-types.ts'
import type { Content, Operation, Routes } from '../contract/routes.ts'
import { noteBodyLimit } from '../http/connection-state.ts'
import { bodyTooLarge, ContractError, missingBody } from '../http/errors.ts'
import { type FormTexts, formParser, type ParseBody, parseJsonBody, parseText } from '../http/parse-body.ts'
import { type BodyReader, wholeBodyReader } from '../http/read-body.ts'
import { readEvents } from '../http/read-events.ts'
import { readLines } from '../http/read-lines.ts'
import {
  checkMediaType,
  contentRejection,
  type Guard,
  type Hook,
  inOrder,
  sendContinue,
} from '../http/request-guards.ts'
import { contentLength, decodeText, hasBody, hasNoContent } from '../http/request-head.ts'
import type { ServerSentEvent } from '../http/streams.ts'
import { openUpload, uploadOf } from '../http/upload.ts'
import { decodeJson } from '../json/decode-json.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { type JsonError, parseJson } from '../json/parse-json.ts'
import { type Validator, valueOrThrow } from '../schema/validator.ts'
import { type BodyBounds, multipartReader } from './multipart-body.ts'
import { bodyValidator, formReader } from './parameters.ts'
import { validReader } from './text-values.ts'

/** The request body that a handler gets, with `contentType` if the operation allows several media types. */
type GivenBody = { body: unknown; contentType?: string | undefined }

/** How the body of an operation is read. */
export type RequestBody = {
  /** Rejects a request before its body is read, with 415, or 400 if the body is missing; else sends 100 Continue. */
  check: Hook
  /**
   * Whether `bodyOf` validates the body: Fastify cannot look up a schema by a range or a media type with parameters.
   */
  isValidated?: true
  /** Opens a body that the handler reads itself; undefined if it reads none. */
  open?: Hook | undefined
  /**
   * Returns the body for the handler; undefined if that is the body of Fastify's request. Throws a ContractError for a
   * body that is invalid under its schema.
   */
  bodyOf?(request: FastifyRequest): GivenBody
}

const bodyTypeKey = Symbol('body type')

type Typed = IncomingMessage & { [bodyTypeKey]?: GivenType | undefined }

/** Returns the type of the body of a request; undefined if it has none, or none that is accepted. */
const bodyTypeOf = (request: Typed): GivenType | undefined =>
  contentRejection(request) === undefined ? request[bodyTypeKey] : undefined

/**
 * Returns whether the handler of a request reads the body itself. Known once the guards have checked the media type.
 */
export function isBodyReadByHandler(request: Typed): boolean {
  const given = bodyTypeOf(request)
  return given !== undefined && isReadByHandler(given.mediaType)
}

/** The checks of JSON bodies. Operations share them: hundreds of them would not fit into the cache of the processor. */
const jsonChecks = new Map<string, Hook>()

/** Returns how to read the body of an operation; undefined if it has none. */
export function requestBody(
  operation: Operation,
  validator: Validator,
  bounds: BodyBounds,
  shared: Routes['schemas'],
): RequestBody | undefined {
  const { schema, bodyRequired: isRequired } = operation
  if (isRequired === undefined) return undefined
  const mediaTypes = Object.keys(schema.body?.content as Content)
  const areSeveral = mediaTypes.length > 1 || mediaTypes.some(isRange)
  const find = bodyTypeFinder(mediaTypes)
  // OpenAPI 3.1 section 4.8.12.1: the document describes the coding itself, so the handler decodes the body.
  const allowsEncoding = operation.parameters.some(({ in: place, key }) => place === 'header' && key === encodingHeader)
  if (mediaTypes.every(isPlainJson)) {
    // Most requests have the listed text, which needs no parsing.
    const accepts = (given = '') => mediaTypes.includes(given) || find(given) !== undefined
    const contentTypeOf = (request: FastifyRequest) => (request.body === undefined ? undefined : request.mediaType)
    const expected = { mediaTypes, isRequired, allowsEncoding }
    const key = JSON.stringify(expected)
    const check = jsonChecks.get(key) ?? inOrder([checkMediaType({ ...expected, accepts }), sendContinue])
    jsonChecks.set(key, check)
    return {
      check,
      ...(areSeveral && { bodyOf: (request) => ({ body: request.body, contentType: contentTypeOf(request) }) }),
    }
  }
  const readers = bodyReaders(operation, shared, validator, bounds)
  return {
    check: inOrder([
      checkMediaType({
        mediaTypes,
        isRequired,
        allowsEncoding,
        // Nobody knows the length of a chunked stream before its handler has read it, so all empty streams are alike.
        isEmptyBody: (headers) =>
          hasBody(headers) &&
          find(headers['content-type'])?.kind === 'bytes' &&
          (allowsEncoding || headers[encodingHeader] === undefined),
        accepts(given, request: Typed) {
          request[bodyTypeKey] = find(given)
          if (isBodyReadByHandler(request)) noteBodyLimit(request, bounds.limits.upload)
          return request[bodyTypeKey] !== undefined
        },
      }),
      ...(isRequired ? [requireBody] : []),
      (request, reply) => (isBodyReadByHandler(request.raw) ? undefined : sendContinue(request, reply)),
    ]),
    isValidated: true,
    open: mayReadBody(schema) ? openBody(bounds) : undefined,
    bodyOf(request) {
      const given = bodyTypeOf(request.raw)
      if (given === undefined || (!isRequired && isEmpty(request.body as Whole, given)))
        return areSeveral ? { body: undefined, contentType: undefined } : { body: undefined }
      const body = (readers[given.mediaType] as Reader)(request, given)
      return areSeveral ? { body, contentType: nameOf(given) } : { body }
    },
  }
}

/** The header whose declaration lets bodies in any content coding pass. */
const encodingHeader = 'content-encoding'

/** A body that was read whole; undefined if it is JSON without any bytes. */
type Whole = { length: number } | undefined

/** Returns whether a body that was read whole is empty. Nobody has read the others yet. */
const isEmpty = (body: Whole, { mediaType }: GivenType): boolean =>
  !isReadByHandler(mediaType) && (body === undefined || body.length === 0)

/**
 * Rejects a request without a required body. If its length is announced as 0, it may be an empty text or stream (RFC 9112
 * section 6.3). A form without fields has no content, so the schema decides whether it may be empty.
 */
const requireBody: Guard = ({ raw }) => {
  const { kind } = bodyTypeOf(raw) as GivenType
  if (kind === 'form') return undefined
  const isMissing = kind === 'json' || kind === 'multipart' ? hasNoContent(raw.headers) : !hasBody(raw.headers)
  return isMissing ? missingBody(kind === 'json' ? 'notJson' : 'invalid') : undefined
}

/** Returns the media type that a handler gets: the document's, or for a range the one that was sent. */
const nameOf = ({ mediaType, contentType }: GivenType): string => (isRange(mediaType) ? contentType.essence : mediaType)

const openBody =
  ({ limits }: BodyBounds): Hook =>
  ({ raw }, reply, done) => {
    if (isBodyReadByHandler(raw)) openUpload(raw, reply.raw, { limit: limits.upload, headersLimit: limits.headers })
    done()
  }

type Reader = (request: FastifyRequest, given: GivenType) => unknown

function bodyReaders(
  { schema: { body }, forms = {}, eventTypes = {}, bodyRequired: isRequired = false }: Operation,
  shared: Routes['schemas'],
  validator: Validator,
  { limits, memory }: BodyBounds,
): Record<string, Reader> {
  const readers = Object.entries(body?.content as Content).map(([mediaType, { schema }]): [string, Reader] => {
    const form = forms[mediaType]
    if (form === undefined) {
      const validate = validator.request(schema, 'body')
      if (kindOf(mediaType) === 'lines')
        return [mediaType, ({ raw }) => jsonItems(uploadOf(raw).stream, mediaType, validate, limits.body)]
      const types = eventTypes[mediaType]
      if (types !== undefined)
        return [mediaType, ({ raw }) => validEvents(readEvents(uploadOf(raw).stream, limits.body), types, validate)]
      if (isReadByHandler(mediaType)) return [mediaType, ({ raw }) => uploadOf(raw).stream]
      const validateJson = bodyValidator(validate, isRequired)
      return [mediaType, ({ body }) => valueOrThrow(validateJson(body as JsonDocument | undefined))]
    }
    if (!isReadByHandler(mediaType)) {
      const read = formReader(form, { part: 'body', decode: decodeText })
      const values = { values: form.fields, part: 'body' }
      const readValid = validReader(values, read, validator.request(schema, 'body'))
      return [mediaType, ({ body }) => valueOrThrow(readValid(body as FormTexts))]
    }
    const read = multipartReader(form, schema, validator, { limits, memory }, { shared, isRequired })
    return [mediaType, ({ raw }, { contentType }) => read(uploadOf(raw), contentType)]
  })
  return Object.fromEntries(readers)
}

type Validate = ReturnType<Validator['request']>

/**
 * Yields the validated items of a body of JSON Lines, one for each line that is not empty, or of a JSON text sequence.
 * Throws a ContractError for an item that is not JSON, is invalid, or has more than `limit` bytes.
 */
async function* jsonItems(
  stream: AsyncIterable<Buffer>,
  mediaType: string,
  validate: Validate,
  limit: number,
): AsyncGenerator<unknown> {
  const isSequence = itemPrefix(mediaType) === recordSeparator
  const end = isSequence ? recordSeparator.charCodeAt(0) : undefined
  for await (const lines of readLines(stream, limit, end)) {
    for (const { number, bytes } of lines) {
      // The first text of a sequence begins after the first separator.
      const item = isSequence ? `item ${number - 1}` : `line ${number}`
      if (bytes === undefined)
        throw new ContractError('bodyTooLarge', `${item} of the body has more than ${limit} bytes`)
      const text = bytes.toString()
      if (text.trim() === '') continue
      // RFC 7464 section 2.4: a number, true, false or null may have been cut off.
      if (isSequence && /[^\s"}\]]$/.test(text))
        throw new ContractError('notJson', `${item} of the body may be incomplete; end it with a line feed`)
      yield validItem(parsed(bytes, `${item} of the body`), validate, item)
    }
  }
}

/** Yields events with validated data. Throws a ContractError for invalid data. */
async function* validEvents(
  events: AsyncIterable<ServerSentEvent<string>>,
  types: string[],
  validate: Validate,
): AsyncGenerator<ServerSentEvent> {
  let number = 1
  for await (const event of events) {
    const item = `event ${number++}`
    yield { ...event, data: validItem(eventData(event.data, types, `the data of ${item}`), validate, item) }
  }
}

/**
 * Parses the data of an event, the reverse of `serializeEvent`, which writes a string as it is and other values as JSON.
 * So a text is JSON if the schema allows no strings, or if it is the JSON of another type that the schema allows.
 * Otherwise the text is the string itself.
 */
function eventData(text: string, types: string[], name: string): JsonDocument {
  const string = { value: text, length: text.length }
  if (types.length > 0 && !types.includes('string')) return parsed(text, name)
  if (types.length === 1) return string
  try {
    const document = parseJson(text)
    return allowsOther(types, document.value) ? document : string
  } catch {
    return string
  }
}

/** Returns whether a schema of these types allows a value that is not a string. No types stand for all of them. */
function allowsOther(types: string[], value: unknown): boolean {
  if (typeof value === 'string') return false
  if (types.length === 0) return true
  if (typeof value === 'number') return types.includes('number') || types.includes('integer')
  return types.includes(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
}

function parsed(text: string | Buffer, name: string): JsonDocument {
  try {
    return parseJson(typeof text === 'string' ? text : decodeJson(text))
  } catch (error) {
    throw new ContractError('notJson', `${name} cannot be parsed as JSON: ${(error as JsonError).message}`)
  }
}

function validItem(document: JsonDocument, validate: Validate, name: string): unknown {
  const result = validate(document)
  if ('value' in result) return result.value
  const { kind, message, headers, statusCode } = result.error
  throw new ContractError(kind, `${name}: ${message}`, headers, statusCode)
}

/**
 * Replaces the content type parsers of an app: only the media types of its operations are accepted. A parser reads the
 * body whole, or leaves it unread for the handler. Bodies above the limits get 413.
 */
export function acceptBodies(app: FastifyInstance, operations: Operation[], bounds: BodyBounds): void {
  const { limits, memory } = bounds
  const mediaTypes = operations.flatMap(({ schema }) => Object.keys(schema.body?.content ?? {}))
  const mayBeStreamed = mediaTypes.some(
    (each) => isRange(each) || requestKindOf(each) !== requestKindOf(essenceOf(each)),
  )
  const rejectContent = emptyBodyReader(bounds)
  const leaveUnread: BodyReader = ({ headers }, _payload, done) =>
    done(contentLength(headers) > limits.upload ? bodyTooLarge(limits.upload) : null)
  const whole = (parse: ParseBody): BodyReader => {
    const read = wholeBodyReader(parse, { limit: limits.body, headersLimit: limits.headers, memory })
    // With a range or a charset, one operation can stream a media type that another operation parses.
    return mayBeStreamed
      ? (request, payload, done) => (isBodyReadByHandler(request.raw) ? leaveUnread : read)(request, payload, done)
      : read
  }
  const readers = {
    // Without bytes there is no JSON text: the validator of an operation knows whether it may be missing.
    json: whole((bytes) => (bytes.length === 0 ? undefined : parseJsonBody(bytes))),
    text: whole(parseText),
    form: whole(formParser(limits.formFields)),
    multipart: leaveUnread,
    bytes: leaveUnread,
  }
  if (operations.some(({ method, schema }) => method === 'GET' && schema.body !== undefined)) acceptBodiesOfGet(app)
  app.removeAllContentTypeParsers()
  for (const essence of new Set(mediaTypes.filter((each) => !isRange(each)).map(essenceOf))) {
    app.addContentTypeParser(essence, readers[requestKindOf(essence)])
  }
  app.addContentTypeParser('*', (request, payload, done) =>
    (isBodyReadByHandler(request.raw) ? leaveUnread : rejectContent)(request, payload, done),
  )
}

/**
 * Lets Fastify read the bodies of GET, and of HEAD, which it serves by the same routes. Other routes ignore them as before.
 * The raw headers stay, since they say what follows on the connection.
 */
function acceptBodiesOfGet(app: FastifyInstance): void {
  const hidden = { 'content-type': undefined, 'content-length': undefined, 'transfer-encoding': undefined }
  for (const method of ['GET', 'HEAD']) app.addHttpMethod(method, { hasBody: true, overrideExisting: true })
  app.addHook('onRequest', (request, _reply, done) => {
    const { method, headers, routeOptions } = request
    const isIgnored = (method === 'GET' || method === 'HEAD') && Object(routeOptions.schema).body === undefined
    if (isIgnored && (hasBody(headers) || headers['content-type'] !== undefined)) request.headers = hidden
    done()
  })
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
