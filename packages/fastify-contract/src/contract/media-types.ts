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
  !mediaType.includes(';') || /^utf-8$/i.test(parseContentType(mediaType)?.parameters.get('charset') ?? 'utf-8')

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

/** A Content-Type (RFC 9110 section 8.3): media type in lower case, and parameters by name in lower case. */
export type ContentType = { essence: string; parameters: Map<string, string> }

const essenceGrammar = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+/

/** Returns whether a text is a media type without parameters. */
export const isEssence = (text: string): boolean => essenceGrammar.exec(text)?.[0] === text

/** Matches one parameter at a time, so that parsing takes linear time. */
const parameterGrammar = /[ \t]*;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\[\t -~])*)"))?/y

/** Characters: no media type needs more, and each parameter costs a microsecond. */
const maxLength = 1_000

/** Parses a Content-Type. Returns undefined for a text that is malformed, too long, or repeats a parameter. */
export function parseContentType(text: string): ContentType | undefined {
  const [essence] = text.length > maxLength ? [] : (essenceGrammar.exec(text) ?? [])
  if (essence === undefined) return undefined
  const parameters = new Map<string, string>()
  const rest = text.slice(essence.length)
  let end = 0
  parameterGrammar.lastIndex = 0
  for (;;) {
    const [, name, token, quoted] = parameterGrammar.exec(rest) ?? []
    if (parameterGrammar.lastIndex === 0) break
    end = parameterGrammar.lastIndex
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (parameters.has(key)) return undefined
    parameters.set(key, token ?? (quoted as string).replace(/\\(.)/g, '$1'))
  }
  return /^[ \t]*$/.test(rest.slice(end)) ? { essence: essence.toLowerCase(), parameters } : undefined
}

/**
 * Returns the value of Accept-Query (RFC 10008 section 3) for the media types of a QUERY operation: a list of strings in
 * the syntax of structured fields (RFC 9651). Leaves out a media type with a parameter that this syntax cannot express.
 */
export const acceptQuery = (mediaTypes: string[]): string => {
  const items: string[] = []
  for (const { essence, parameters } of mediaTypes.map((each) => parseContentType(each) as ContentType)) {
    const pairs = [...parameters]
    // RFC 9651 sections 3.1.2 and 3.3.3: names of fewer characters than a token, and values of printable ASCII.
    const isExact = pairs.every(([name, value]) => /^[a-z*][\w.*-]*$/.test(name) && /^[ -~]*$/.test(value))
    if (isExact) items.push(quoted(essence) + pairs.map(([name, value]) => `;${name}=${quoted(value)}`).join(''))
  }
  return [...new Set(items)].join(', ')
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`
