import Negotiator from 'negotiator'
import { addVary } from '../http/cors.ts'
import { ContractError } from '../http/errors.ts'
import type { Guard } from '../http/request-guards.ts'
import { type ContentType, isEssence, parseContentType } from '../http/request-head.ts'
import type { RouteSchema } from './routes.ts'

/**
 * What the bodies of a media type are: the compiler writes it into the types of the operations, and all else follows
 * from it. A response body in the media type of a form is bytes.
 */
export type MediaKind = 'json' | 'form' | 'multipart' | 'events' | 'lines' | 'text' | 'bytes'

/** Returns a media type without its parameters, in lower case (RFC 9110 section 8.3.1). */
export const essenceOf = (mediaType: string): string => mediaType.replace(/[ \t]*;.*$/s, '').toLowerCase()

/**
 * Returns the kind of the bodies of a media type or range. Text and forms in a charset other than UTF-8 are bytes, since
 * everything that the service reads and writes itself is UTF-8.
 */
export function kindOf(mediaType: string): MediaKind {
  const kind = kindOfEssence(essenceOf(mediaType))
  return (kind === 'text' || kind === 'form') && !isUtf8(mediaType) ? 'bytes' : kind
}

const isUtf8 = (mediaType: string): boolean =>
  !mediaType.includes(';') || isUtf8Charset(parseContentType(mediaType)?.parameters.get('charset'))

/** Returns whether a charset is UTF-8, which is the default. */
const isUtf8Charset = (charset = 'utf-8'): boolean => charset.toLowerCase() === 'utf-8'

function kindOfEssence(essence: string): MediaKind {
  // WHATWG MIME Sniffing, section 4.6, with the suffix of any type (RFC 6839 section 3.1).
  if (/^[^/]+\/(?:.+\+)?json$/.test(essence)) return 'json'
  if (essence === 'application/x-www-form-urlencoded') return 'form'
  if (essence === 'multipart/form-data') return 'multipart'
  if (essence === 'text/event-stream') return 'events'
  // jsonlines.org, ndjson by its older names, and JSON text sequences (RFC 7464, and RFC 8091 for the suffix).
  if (/^application\/(?:x-)?(?:jsonl|ndjson|jsonlines)$|[/+]json-seq$/.test(essence)) return 'lines'
  return /^text\/[^*]|[/+]xml$/.test(essence) ? 'text' : 'bytes'
}

/** Begins each text of a JSON text sequence; an item of JSON Lines has no such prefix. */
export const recordSeparator = '\x1e'

/** Returns what begins each item in a media type of the kind `lines`. */
export const itemPrefix = (mediaType: string): string =>
  essenceOf(mediaType).endsWith('json-seq') ? recordSeparator : ''

/** Returns whether a media type is a range, such as image/* (OpenAPI 3.1 section 4.8.14). */
export const isRange = (mediaType: string): boolean => essenceOf(mediaType).includes('*')

/**
 * Returns whether a media type of a response lacks the boundary between its parts (RFC 2046 section 5.1.1), which a
 * handler then chooses.
 */
export const needsBoundary = (mediaType: string): boolean =>
  /^multipart\/[^*;]/i.test(mediaType) && parseContentType(mediaType)?.parameters.has('boundary') !== true

/** Returns whether a media type lies within a range. */
export function isInRange(range: string, mediaType: string): boolean {
  const essence = essenceOf(mediaType)
  // RFC 6838 section 4.2: no registered name has an asterisk.
  if (isRange(essence) || !isEssence(essence)) return false
  const [type = ''] = essenceOf(range).split('/')
  return type === '*' || essence.startsWith(`${type}/`)
}

/** Returns the narrowest range in `mediaTypes` that includes `mediaType`; undefined if there is none. */
export const rangeOf = (mediaTypes: string[], mediaType: string): string | undefined =>
  mediaTypes
    .filter((each) => isRange(each) && isInRange(each, mediaType))
    .sort((one, other) => other.length - one.length)[0]

/** Returns the Content-Type of a body, with charset=utf-8 for JSON and text that name no charset. */
export const contentTypeOf = (mediaType: string): string =>
  /;[ \t]*charset=/i.test(mediaType) || !['json', 'text'].includes(kindOf(mediaType))
    ? mediaType
    : `${mediaType}; charset=utf-8`

/** Returns whether a response of an operation may be a stream, which any body other than JSON may be. */
export const mayStream = ({ response }: Pick<RouteSchema, 'response'>): boolean =>
  Object.values(response).some(({ content = {} }) =>
    Object.keys(content).some((type) => isRange(type) || kindOf(type) !== 'json'),
  )

/** How a request body is read: whole, as JSON, a form or text; or by the handler, as parts of a form or as bytes. */
export type RequestKind = Exclude<MediaKind, 'events' | 'lines'>

/** Returns how bodies of a media type or range are read. */
export function requestKindOf(mediaType: string): RequestKind {
  const kind = kindOf(mediaType)
  return kind === 'events' || kind === 'lines' ? 'bytes' : kind
}

/** Returns whether handlers read bodies of a media type themselves, as they arrive. */
export const isReadByHandler = (mediaType: string): boolean => ['multipart', 'bytes'].includes(requestKindOf(mediaType))

/** Returns whether an operation allows a body that its handler reads itself. */
export const mayReadBody = ({ body }: Pick<RouteSchema, 'body'>): boolean =>
  Object.keys(body?.content ?? {}).some(isReadByHandler)

/** Returns whether Fastify can look up the body's schema by the media type: JSON without parameters, in lower case. */
export const isPlainJson = (mediaType: string): boolean =>
  requestKindOf(mediaType) === 'json' && /^[^;A-Z]+$/.test(mediaType)

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

const specificity = ({ mediaType, parameters }: Candidate): number => {
  if (mediaType.startsWith('*')) return 0
  return isRange(mediaType) ? 1 : 2 + parameters.size
}

function fits({ essence, kind, parameters, charset }: Candidate, given: ContentType): boolean {
  if (isRange(essence)) return isInRange(essence, given.essence)
  if (essence !== given.essence) return false
  const counted = withoutCharset(given.parameters)
  for (const [name, value] of parameters) if (counted.get(name) !== value) return false
  const sent = given.parameters.get('charset')
  if (kind === 'bytes') return charset === undefined || sent?.toLowerCase() === charset.toLowerCase()
  if (kind === 'multipart') counted.delete('boundary')
  return counted.size === parameters.size && isUtf8Charset(sent)
}

/** Returns the parameters to compare. The charset is checked separately, since it defaults to utf-8. */
const withoutCharset = (parameters: Map<string, string>): Map<string, string> =>
  new Map([...parameters].filter(([name]) => name !== 'charset'))

/**
 * Characters. A longer Accept header is ignored, as RFC 9110 section 12.5.1 allows: each of its ranges is compared with
 * each media type, which takes half a millisecond for twenty media types.
 */
const maxAccept = 500

/**
 * Returns a media type with charset=utf-8, unless it names a charset: everything that the service writes is UTF-8, and a
 * range with this parameter must match it (RFC 9110 section 12.5.1). For bytes, the parameter has no meaning.
 */
const withCharset = (mediaType: string): string =>
  /;[ \t]*charset=/i.test(mediaType) ? mediaType : `${mediaType}; charset=utf-8`

/** The content negotiation of an operation. */
export type Negotiation = {
  /** Returns the media type that a request with this Accept prefers. */
  choose(accept: string | undefined): string
  /** Rejects with 406 a request that accepts none of the media types. */
  check: Guard
}

/**
 * Returns the content negotiation of an operation: it chooses a media type if a successful response declares several.
 * Returns undefined if no response declares several. A range is not offered, and where there is one no request is
 * rejected, since the handler may choose any media type in it. If only an error has several, no request is rejected: an
 * error in another media type is better than none (RFC 9110 section 15.5.7).
 */
export function contentNegotiation({ response }: Pick<RouteSchema, 'response'>): Negotiation | undefined {
  const statuses = Object.keys(response)
  const successes = statuses.filter((status) => status.startsWith('2'))
  /** Returns the media types of those responses that have several. */
  const severalOf = (keys: string[]) => [
    ...new Set(
      keys.map((key) => Object.keys(response[key]?.content ?? {})).flatMap((types) => (types.length > 1 ? types : [])),
    ),
  ]
  const choicesOf = (keys: string[]) => severalOf(keys).filter((type) => !isRange(type))
  const successKeys = successes.length > 0 ? successes : ['default']
  const successTypes = choicesOf(successKeys)
  const hasRange = severalOf(successKeys).some(isRange)
  const offered = successTypes.length > 0 ? successTypes : choicesOf(statuses)
  const [first] = offered
  if (first === undefined) return undefined
  const byOffer = new Map(offered.map((mediaType) => [withCharset(mediaType), mediaType]))
  const offers = [...byOffer.keys()]
  const preferred = (accept: string | undefined): string | undefined => {
    if (!accept || accept.length > maxAccept) return first
    const chosen = new Negotiator({ headers: { accept } }).mediaType(offers)
    return chosen === undefined ? undefined : byOffer.get(chosen)
  }
  return {
    choose: (accept) => preferred(accept) ?? first,
    check({ headers: { accept } }, reply) {
      addVary(reply, 'Accept')
      if (successTypes.length === 0 || hasRange || preferred(accept) !== undefined) return undefined
      return new ContractError('notAcceptable', `the available media types are ${offered.join(', ')}`)
    },
  }
}
