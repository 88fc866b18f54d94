import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ContractError } from '../contract/errors.ts'
import {
  type ContentType,
  isInRange,
  isRange,
  isReadByHandler,
  parseContentType,
  type RequestKind,
  requestKindOf,
} from '../contract/media-types.ts'
import { noteBodyLimit } from '../http/connection-state.ts'
import type { Guard } from '../http/request-guards.ts'
import { hasNoContent } from '../http/request-head.ts'

/** The bodies that an operation accepts. */
export type ExpectedBody = {
  mediaTypes: string[]
  isRequired: boolean
  /** Whether the operation declares the header Content-Encoding, and gets the body as it was sent. */
  allowsEncoding?: boolean
  /** Returns whether a Content-Type is accepted. */
  accepts(given: string | undefined, request: IncomingMessage): boolean
  /** Returns whether an announced length of 0 is an empty body, and not an absent one. */
  isEmptyBody?(headers: IncomingHttpHeaders): boolean
}

const contentRejectionKey = Symbol('rejection of content')

type MaybeEmpty = IncomingMessage & { [contentRejectionKey]?: ContractError }

/** Returns the error for a request if its chunked body is not empty; undefined if the body is accepted. */
export const contentRejection = (request: MaybeEmpty): ContractError | undefined => request[contentRejectionKey]

/**
 * Ignores the Content-Type of a request without content, which it cannot describe (RFC 9110 sections 6.4 and 8.3): for
 * Fastify it would announce a body. A Content-Type that Fastify cannot parse is ignored, too: only the end of a chunked
 * body shows whether it is empty, and other content without a media type is rejected.
 */
export const ignoreContentType: Guard = ({ headers, raw }) => {
  const given = headers['content-type']
  if (given !== undefined && (hasNoContent(headers) || parseContentType(given) === undefined))
    delete raw.headers['content-type']
  return undefined
}

/**
 * Returns a guard that rejects an unlisted Content-Type with 415, and a Content-Encoding that the operation does not
 * declare. Fastify would accept such a body without validation, since it has no schema for it.
 */
export function checkContentType(expected: ExpectedBody): Guard {
  return check

  function check(request: FastifyRequest, reply: FastifyReply): ReturnType<Guard> {
    const { headers, raw } = request
    if (!expected.isRequired && hasNoContent(headers) && expected.isEmptyBody?.(headers) !== true)
      return ignoreContentType(request, reply)
    const rejection = mediaTypeError(expected, request)
    // A client that waits for 100 Continue learns at once that it need not send its body.
    const mayBeEmpty =
      !expected.isRequired && headers['transfer-encoding'] !== undefined && headers.expect === undefined
    if (rejection === undefined || !mayBeEmpty) return rejection
    const maybeEmpty: MaybeEmpty = raw
    maybeEmpty[contentRejectionKey] = rejection
    delete raw.headers['content-type']
    return undefined
  }
}

function mediaTypeError(
  { mediaTypes, allowsEncoding = false, accepts }: ExpectedBody,
  { headers, raw }: FastifyRequest,
): ContractError | undefined {
  const given = headers['content-type']
  if (!accepts(given, raw)) {
    const charset = given !== undefined && /;[ \t]*charset=/i.test(given) ? ', with no charset but utf-8' : ''
    const message = `the media type must be ${mediaTypes.join(' or ')}${charset}`
    return new ContractError('unsupportedMediaType', message, { accept: mediaTypes.join(', ') })
  }
  if (headers['content-encoding'] === undefined || allowsEncoding) return undefined
  const message = 'the body must have no content encoding'
  return new ContractError('unsupportedEncoding', message, { 'accept-encoding': 'identity' })
}

/** A media type of the body of an operation, as in the document. */
type BodyType = { mediaType: string; kind: RequestKind }

/** The body type that matches a request, with the Content-Type of the request. */
export type GivenType = BodyType & { contentType: ContentType }

type Candidate = BodyType & {
  essence: string
  parameters: Map<string, string>
  /** The charset of text that is read as bytes. */
  charset: string | undefined
}

/**
 * Returns a function that finds the body type for a Content-Type header. The most specific one wins: most parameters
 * first, a media type before a range (OpenAPI 3.1 section 4.8.13.1). JSON, forms and text must be utf-8 and must not
 * have parameters that the document does not name; bytes may.
 */
export function bodyTypeFinder(mediaTypes: string[]): (given: string | undefined) => GivenType | undefined {
  const candidates = mediaTypes.map(candidateOf).sort((one, other) => specificity(other) - specificity(one))
  return (given) => {
    const contentType = given === undefined ? undefined : parseContentType(given)
    const found = contentType && candidates.find((candidate) => fits(candidate, contentType))
    return found && { mediaType: found.mediaType, kind: found.kind, contentType }
  }
}

function candidateOf(mediaType: string): Candidate {
  const kind = requestKindOf(mediaType)
  const { essence, parameters } = parseContentType(mediaType) as ContentType
  const charset = kind === requestKindOf(essence) ? undefined : parameters.get('charset')
  return { mediaType, kind, essence, parameters: withoutCharset(parameters), charset }
}

const specificity = ({ mediaType, parameters, charset }: Candidate): number => {
  if (mediaType.startsWith('*')) return 0
  return isRange(mediaType) ? 1 : 2 + parameters.size + (charset === undefined ? 0 : 1)
}

function fits({ essence, kind, parameters, charset }: Candidate, given: ContentType): boolean {
  if (isRange(essence)) return isInRange(essence, given.essence)
  if (essence !== given.essence) return false
  const counted = withoutCharset(given.parameters)
  for (const [name, value] of parameters) if (counted.get(name) !== value) return false
  const sent = given.parameters.get('charset')
  if (kind === 'bytes') return charset === undefined || sent?.toLowerCase() === charset.toLowerCase()
  if (kind === 'multipart') counted.delete('boundary')
  return counted.size === parameters.size && isUtf8Name(sent)
}

/** Returns whether a charset is UTF-8 by its name in the registry (RFC 3629 section 8). */
export const isUtf8Name = (charset = 'utf-8'): boolean => charset.toLowerCase() === 'utf-8'

/** Returns the parameters to compare. The charset is checked separately, since it defaults to utf-8. */
const withoutCharset = (parameters: Map<string, string>): Map<string, string> =>
  new Map([...parameters].filter(([name]) => name !== 'charset'))

const bodyTypeKey = Symbol('body type')

type Typed = IncomingMessage & { [bodyTypeKey]?: GivenType | undefined }

/** Records the type of the body of a request. Returns whether it has one that is accepted. */
export function acceptBodyType(request: Typed, given: GivenType | undefined, uploadLimit: number): boolean {
  request[bodyTypeKey] = given
  if (isBodyReadByHandler(request)) noteBodyLimit(request, uploadLimit)
  return given !== undefined
}

/** Returns the type of the body of a request; undefined if it has none, or none that is accepted. */
export const bodyTypeOf = (request: Typed): GivenType | undefined =>
  contentRejection(request) === undefined ? request[bodyTypeKey] : undefined

/** Returns whether the handler of a request reads the body itself. Known once the Content-Type has been checked. */
export function isBodyReadByHandler(request: Typed): boolean {
  const given = bodyTypeOf(request)
  return given !== undefined && isReadByHandler(given.mediaType)
}
