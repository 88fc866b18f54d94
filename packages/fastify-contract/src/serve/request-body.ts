import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { checkMediaType, sendContinue } from '../http/check-media-type.ts'
import { ContractError } from '../http/errors.ts'
import { noteBodyLimit } from '../http/header-limit.ts'
import type { BodyMemory } from '../http/read-body.ts'
import { type Hook, inOrder, type Step } from '../http/request-guards.ts'
import { hasBody } from '../http/request-head.ts'
import { openUpload, type UploadLimits, uploadOf } from '../http/upload.ts'
import type { JsonDocument } from '../json/json-document.ts'
import { formReader } from './form-body.ts'
import { isRange } from './media-types.ts'
import { multipartReader } from './multipart-body.ts'
import { bodyTypeFinder, type GivenType, isPlainJson, isReadByHandler, mayReadBody } from './request-media.ts'
import type { Content, Form, Operation, Routes } from './routes.ts'
import { type Validator, valueOrThrow } from './validator.ts'

/** The request body that a handler gets, with `contentType` if the operation allows several media types. */
export type GivenBody = { body: unknown; contentType?: string | undefined }

/**
 * The limits of request bodies. `body` is the maximum of a body that is read whole, and `headers` that of a header or
 * trailer section, in bytes.
 */
export type BodyBounds = { body: number; headers: number; uploads: UploadLimits; memory: BodyMemory }

type Shared = Routes['schemas']

/** How the body of an operation is read. */
export type RequestBody = {
  /** Reject a request before its body is read, with 415, or 400 if the body is missing; else send 100 Continue. */
  steps: Step[]
  /**
   * Whether `bodyOf` validates the body: Fastify cannot look up a schema by a range or a media type with parameters.
   */
  isValidated: boolean
  /** Opens a body that the handler reads itself; undefined if it reads none. */
  open: Hook | undefined
  /** Returns the body for the handler. Throws a ContractError for a body that is invalid under its schema. */
  bodyOf(request: FastifyRequest): GivenBody
}

const key = Symbol('body type')

type Typed = IncomingMessage & { [key]?: GivenType | undefined }

/** Returns whether the handler of a request reads the body itself. Known once `steps` have checked the media type. */
export const isBodyReadByHandler = (request: Typed): boolean =>
  request[key] !== undefined && isReadByHandler(request[key].mediaType)

/** Returns how to read the body of an operation; undefined if it has none, or if its only media type is plain JSON. */
export function requestBody(
  operation: Operation,
  validator: Validator,
  bounds: BodyBounds,
  shared: Shared,
): RequestBody | undefined {
  const { schema, bodyRequired: isRequired, forms = {} } = operation
  const content = schema.body?.content ?? {}
  const mediaTypes = Object.keys(content)
  const areSeveral = mediaTypes.length > 1 || mediaTypes.some(isRange)
  if (isRequired === undefined || (!areSeveral && mediaTypes.every(isPlainJson))) return undefined
  if (mediaTypes.every(isPlainJson)) {
    const contentTypeOf = (request: FastifyRequest) => (request.body === undefined ? undefined : request.mediaType)
    return {
      steps: [checkMediaType({ mediaTypes, isRequired }), sendContinue],
      isValidated: false,
      open: undefined,
      bodyOf: (request) => ({ body: request.body, contentType: contentTypeOf(request) }),
    }
  }
  const find = bodyTypeFinder(mediaTypes)
  const readers = bodyReaders({ content, forms, shared }, validator, bounds)
  return {
    steps: [
      checkMediaType({
        mediaTypes,
        isRequired,
        accepts(given, request: Typed) {
          request[key] = find(given)
          if (isBodyReadByHandler(request)) noteBodyLimit(request, bounds.uploads.bytes)
          return request[key] !== undefined
        },
      }),
      ...(isRequired ? [requireBody] : []),
      (request, reply) => (isBodyReadByHandler(request.raw) ? undefined : sendContinue(request, reply)),
    ],
    isValidated: true,
    open: mayReadBody(schema) ? openBody(bounds) : undefined,
    bodyOf(request) {
      const given = (request.raw as Typed)[key]
      if (given === undefined) return areSeveral ? { body: undefined, contentType: undefined } : { body: undefined }
      const body = (readers[given.mediaType] as Reader)(request, given)
      return areSeveral ? { body, contentType: nameOf(given) } : { body }
    },
  }
}

/**
 * Rejects a request without a required body (RFC 9112 section 6.3), which would otherwise look like an empty text or
 * stream.
 */
const requireBody: Step = ({ raw }) => {
  const kind = (raw as Typed)[key]?.kind
  if (hasBody(raw.headers) || (kind !== 'text' && kind !== 'bytes')) return undefined
  return new ContractError('invalid', 'the body is missing')
}

/** Returns the media type that a handler gets: the document's, or for a range the one that was sent. */
const nameOf = ({ mediaType, contentType }: GivenType): string => (isRange(mediaType) ? contentType.essence : mediaType)

const openBody =
  ({ uploads, headers }: BodyBounds): Hook =>
  ({ raw }, reply, done) => {
    if (isBodyReadByHandler(raw)) openUpload(raw, reply.raw, { limit: uploads.bytes, headersLimit: headers })
    done()
  }

/** Returns the hook that rejects bodies of an operation before they are read; none if the operation has no body. */
export function bodySteps({ schema, bodyRequired: isRequired }: Operation, body: RequestBody | undefined): Hook[] {
  if (isRequired === undefined) return []
  const mediaTypes = Object.keys((schema.body as { content: Content }).content)
  return [inOrder(body?.steps ?? [checkMediaType({ mediaTypes, isRequired }), sendContinue])]
}

type Reader = (request: FastifyRequest, given: GivenType) => unknown

function bodyReaders(
  { content, forms, shared }: { content: Content; forms: Record<string, Form>; shared: Shared },
  validator: Validator,
  { body: bytes, memory, uploads }: BodyBounds,
): Record<string, Reader> {
  const readers = Object.entries(content).map(([mediaType, { schema }]): [string, Reader] => {
    const form = forms[mediaType]
    if (form === undefined) {
      if (isReadByHandler(mediaType)) return [mediaType, ({ raw }) => uploadOf(raw).stream]
      const validate = validator.request(schema, 'body')
      return [mediaType, ({ body }) => valueOrThrow(validate(body as JsonDocument))]
    }
    if (!isReadByHandler(mediaType)) {
      const read = formReader(form)
      const validate = validator.request(schema, 'body')
      return [mediaType, ({ body }) => valueOrThrow(validate(read(body as never)))]
    }
    const read = multipartReader(form, schema, validator, { bytes, memory, fields: uploads.fields }, shared)
    return [mediaType, ({ raw }, { contentType }) => read(uploadOf(raw), contentType)]
  })
  return Object.fromEntries(readers)
}
