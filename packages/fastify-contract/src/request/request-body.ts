import type { FastifyRequest } from 'fastify'
import { missingBody } from '../contract/errors.ts'
import { isPlainJson, isRange, isReadByHandler, kindOf } from '../contract/media-types.ts'
import type { Content, Operation, Routes } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { type Guard, type Hook, inOrder, sendContinue } from '../http/request-guards.ts'
import { hasBody, hasNoContent } from '../http/request-head.ts'
import { openUpload, uploadOf } from '../http/upload.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { type Validator, valueOrThrow } from '../schema/validator.ts'
import {
  acceptBodyType,
  bodyTypeFinder,
  bodyTypeOf,
  checkContentType,
  type ExpectedBody,
  type GivenType,
  isBodyReadByHandler,
} from './content-type.ts'
import { type FormTexts, formValidator } from './form-body.ts'
import { jsonBodyValidator } from './json-body.ts'
import { type BodyBounds, multipartReader } from './multipart-body.ts'
import { jsonItems, validEvents } from './sequential-body.ts'

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

/** Returns how to read the body of an operation; undefined if it has none. */
export function requestBody(
  operation: Operation,
  validator: Validator,
  bounds: BodyBounds,
  shared: Routes['schemas'],
): RequestBody | undefined {
  const { schema, parameters, bodyRequired: isRequired } = operation
  if (isRequired === undefined) return undefined
  const mediaTypes = Object.keys(schema.body?.content as Content)
  // OpenAPI 3.1 section 4.8.12.1: the document describes the coding itself, so the handler decodes the body.
  const allowsEncoding = parameters.some((parameter) => parameter.in === 'header' && parameter.key === encodingHeader)
  const expected = { mediaTypes, isRequired, allowsEncoding }
  if (mediaTypes.every(isPlainJson)) return plainJsonBody(expected)
  return typedBody(expected, bodyReaders(operation, validator, bounds, shared), bounds)
}

/** The header whose declaration lets bodies in any content coding pass. */
const encodingHeader = 'content-encoding'

type Expected = Required<Pick<ExpectedBody, 'mediaTypes' | 'isRequired' | 'allowsEncoding'>>

/** Returns whether a handler gets the media type of the body, since it cannot know it. */
const areSeveral = ({ mediaTypes }: Expected): boolean => mediaTypes.length > 1 || mediaTypes.some(isRange)

/** The checks of JSON bodies. Operations share them: hundreds of them would not fit into the cache of the processor. */
const jsonChecks = new Map<string, Hook>()

/** Returns how to read a body that Fastify parses and validates, because all of its media types are plain JSON. */
function plainJsonBody(expected: Expected): RequestBody {
  const key = JSON.stringify(expected)
  const check = jsonChecks.get(key) ?? jsonCheck(expected)
  jsonChecks.set(key, check)
  return areSeveral(expected) ? { check, bodyOf: bodyWithType } : { check }
}

function jsonCheck(expected: Expected): Hook {
  const { mediaTypes } = expected
  const find = bodyTypeFinder(mediaTypes)
  // Most requests have the listed text, which needs no parsing.
  const accepts = (given = '') => mediaTypes.includes(given) || find(given) !== undefined
  return inOrder([checkContentType({ ...expected, accepts }), sendContinue])
}

const bodyWithType = ({ body, mediaType }: FastifyRequest): GivenBody => ({
  body,
  contentType: body === undefined ? undefined : mediaType,
})

/** Returns how to read a body whose media type decides how it is read and validated. */
function typedBody(expected: Expected, readers: Record<string, ReadBody>, { limits }: BodyBounds): RequestBody {
  const { mediaTypes, isRequired, allowsEncoding } = expected
  const find = bodyTypeFinder(mediaTypes)
  const hasContentType = areSeveral(expected)
  const checkType = checkContentType({
    ...expected,
    // The length of a chunked stream is unknown before its handler has read it, so all empty streams are alike.
    isEmptyBody: (headers) =>
      hasBody(headers) &&
      find(headers['content-type'])?.kind === 'bytes' &&
      (allowsEncoding || headers[encodingHeader] === undefined),
    accepts: (given, request) => acceptBodyType(request, find(given), limits.upload),
  })
  return {
    check: inOrder(isRequired ? [checkType, requireBody, continueUnlessRead] : [checkType, continueUnlessRead]),
    isValidated: true,
    open: mediaTypes.some(isReadByHandler) ? openBody(limits) : undefined,
    bodyOf(request) {
      const given = bodyTypeOf(request.raw)
      if (given === undefined || (!isRequired && isEmpty(request.body as Whole, given)))
        return hasContentType ? { body: undefined, contentType: undefined } : { body: undefined }
      const body = (readers[given.mediaType] as ReadBody)(request, given)
      return hasContentType ? { body, contentType: nameOf(given) } : { body }
    },
  }
}

/** A body that was read whole; undefined if it is JSON without any bytes. */
type Whole = { length: number } | undefined

/** Returns whether a body that was read whole is empty. Nobody has read the others yet. */
const isEmpty = (body: Whole, { mediaType }: GivenType): boolean =>
  !isReadByHandler(mediaType) && (body === undefined || body.length === 0)

/**
 * Rejects a request without a required body. A text may be empty, and needs no Content-Length then: the length is 0 (RFC 9112
 * section 6.3), and the Content-Type says what is empty. No schema can reject an empty stream, so its length must be announced
 * as 0. A form without fields has no content. The schema decides whether a text or a form may be empty.
 */
const requireBody: Guard = ({ raw }) => {
  const { kind } = bodyTypeOf(raw) as GivenType
  if (kind === 'form' || kind === 'text') return undefined
  const isMissing = kind === 'bytes' ? !hasBody(raw.headers) : hasNoContent(raw.headers)
  return isMissing ? missingBody(kind === 'json' ? 'notJson' : 'invalid') : undefined
}

/** Returns the media type that a handler gets: the document's, or for a range the one that was sent. */
const nameOf = ({ mediaType, contentType }: GivenType): string => (isRange(mediaType) ? contentType.essence : mediaType)

/** Sends 100 Continue, unless the handler reads the body: then the first read sends it. */
const continueUnlessRead: Guard = (request, reply) =>
  isBodyReadByHandler(request.raw) ? undefined : sendContinue(request, reply)

const openBody =
  (limits: BodyBounds['limits']): Hook =>
  ({ raw }, reply, done) => {
    if (isBodyReadByHandler(raw)) openUpload(raw, reply.raw, { limit: limits.upload, headersLimit: limits.headers })
    done()
  }

/** Returns the body for the handler. Throws a ContractError for a body that is invalid under its schema. */
type ReadBody = (request: FastifyRequest, given: GivenType) => unknown

/** Returns how bodies are read by media type. */
function bodyReaders(
  operation: Operation,
  validator: Validator,
  bounds: BodyBounds,
  shared: Routes['schemas'],
): Record<string, ReadBody> {
  const { schema, forms = {}, bodyRequired: isRequired = false } = operation
  const readers: Record<string, ReadBody> = {}
  for (const [mediaType, { schema: ofBody }] of Object.entries(schema.body?.content as Content)) {
    const form = forms[mediaType]
    if (form === undefined) readers[mediaType] = bodyReader(mediaType, ofBody, operation, validator, bounds)
    else if (isReadByHandler(mediaType)) {
      const read = multipartReader(form, ofBody, validator, bounds, { shared, isRequired })
      readers[mediaType] = ({ raw }, { contentType }) => read(uploadOf(raw), contentType)
    } else {
      const validate = formValidator(form, ofBody, validator)
      readers[mediaType] = ({ body }) => valueOrThrow(validate(body as FormTexts))
    }
  }
  return readers
}

/** Returns how a body that is no form is read in a media type. */
function bodyReader(
  mediaType: string,
  schema: Schema,
  { eventTypes = {}, bodyRequired }: Operation,
  validator: Validator,
  { limits }: BodyBounds,
): ReadBody {
  const validate = validator.request(schema, 'body')
  if (kindOf(mediaType) === 'lines')
    return ({ raw }) => jsonItems(uploadOf(raw).stream, mediaType, validate, limits.body)
  const types = eventTypes[mediaType]
  if (types !== undefined) return ({ raw }) => validEvents(uploadOf(raw).stream, types, validate, limits.body)
  if (isReadByHandler(mediaType)) return ({ raw }) => uploadOf(raw).stream
  const validateJson = jsonBodyValidator(validate, bodyRequired)
  return ({ body }) => valueOrThrow(validateJson(body as JsonDocument | undefined))
}
