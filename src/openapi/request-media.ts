import { type ContentType, parseContentType } from '../http/content-type.ts'
import { essenceOf, holds, isRange, kindOf } from './media-types.ts'
import type { RouteSchema } from './routes.ts'

/** How a body of a request is read: whole as JSON, a form or text, or by its handler as parts of a form or bytes. */
export type RequestKind = 'json' | 'form' | 'multipart' | 'text' | 'bytes'

const forms: Record<string, RequestKind> = {
  'application/x-www-form-urlencoded': 'form',
  'multipart/form-data': 'multipart',
}

/** Returns how bodies of a media type, or of a range of media types, are read: request-types.ts has their types. */
export function requestKindOf(mediaType: string): RequestKind {
  const essence = essenceOf(mediaType)
  const kind = kindOf(essence)
  return forms[essence] ?? (kind === 'json' || kind === 'text' ? kind : 'bytes')
}

/** Returns whether a handler reads bodies of a media type itself, as they arrive. */
export const isReadByHandler = (mediaType: string): boolean => ['multipart', 'bytes'].includes(requestKindOf(mediaType))

/** Returns whether the handler of an operation may read its body itself. */
export const mayReadBody = ({ body }: Pick<RouteSchema, 'body'>): boolean =>
  Object.keys(body?.content ?? {}).some(isReadByHandler)

/** Returns whether Fastify can look up the body's schema by media type alone: that of JSON without parameters. */
export const isPlainJson = (mediaType: string): boolean =>
  requestKindOf(mediaType) === 'json' && /^[^;A-Z]+$/.test(mediaType)

/** A media type of the body of an operation, as the document has it. */
export type BodyType = { mediaType: string; kind: RequestKind }

/** A body type that a request names, and its Content-Type. */
export type GivenType = BodyType & { contentType: ContentType }

type Candidate = BodyType & { essence: string; parameters: Map<string, string> }

/**
 * Returns what finds the body type of a Content-Type: the one with most parameters before others, a media type before a
 * range (OpenAPI 3.1 section 4.8.13.1). A text has no charset but utf-8, and no other parameters than the document's.
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
  return { mediaType, kind, essence, parameters: counting(parameters) }
}

const specificity = ({ mediaType, parameters }: Candidate): number => {
  if (mediaType.startsWith('*')) return 0
  return isRange(mediaType) ? 1 : 2 + parameters.size
}

function fits({ essence, kind, parameters }: Candidate, given: ContentType): boolean {
  if (isRange(essence)) return holds(essence, given.essence)
  if (essence !== given.essence) return false
  const counted = counting(given.parameters)
  for (const [name, value] of parameters) if (counted.get(name) !== value) return false
  if (kind === 'bytes') return true
  if (kind === 'multipart') counted.delete('boundary')
  return counted.size === parameters.size && (given.parameters.get('charset') ?? 'utf-8').toLowerCase() === 'utf-8'
}

/** The charset is checked apart: utf-8 is that of a text without one, too. */
const counting = (parameters: Map<string, string>): Map<string, string> =>
  new Map([...parameters].filter(([name]) => name !== 'charset'))
