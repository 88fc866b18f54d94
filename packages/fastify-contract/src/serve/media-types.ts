import { isEssence } from '../http/content-type.ts'
import type { RouteSchema } from './routes.ts'

/** How a handler returns a response body of a media type, and how the service sends it. */
export type BodyKind = 'json' | 'events' | 'lines' | 'text' | 'bytes'

/** Returns a media type without its parameters, in lower case (RFC 9110 section 8.3.1). */
export const essenceOf = (mediaType: string): string => mediaType.replace(/[ \t]*;.*$/s, '').toLowerCase()

/** Returns the kind of the bodies of a media type or range. response-types.ts must say the same at compile time. */
export function kindOf(mediaType: string): BodyKind {
  const essence = essenceOf(mediaType)
  // WHATWG MIME Sniffing, section 4.6, with the suffix of any type (RFC 6839 section 3.1).
  if (/^[^/]+\/(?:.+\+)?json$/.test(essence)) return 'json'
  if (essence === 'text/event-stream') return 'events'
  // jsonlines.org, and ndjson by its older names.
  if (/^application\/(?:x-)?(?:jsonl|ndjson|jsonlines)$/.test(essence)) return 'lines'
  return /^text\/[^*]|[/+]xml$/.test(essence) ? 'text' : 'bytes'
}

/** Returns whether a media type is a range, such as image/* (OpenAPI 3.1 section 4.8.14). */
export const isRange = (mediaType: string): boolean => essenceOf(mediaType).includes('*')

/** Returns whether a media type lies within a range. */
export function isInRange(range: string, mediaType: string): boolean {
  const essence = essenceOf(mediaType)
  // RFC 6838 section 4.2: no registered name has an asterisk.
  if (isRange(essence) || !isEssence(essence)) return false
  const [type = ''] = essenceOf(range).split('/')
  return type === '*' || essence.startsWith(`${type}/`)
}

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
