import Negotiator from 'negotiator'
import { ContractError } from '../contract/errors.ts'
import { isRange } from '../contract/media-types.ts'
import type { RouteSchema } from '../contract/routes.ts'
import { addVary } from '../http/cors.ts'
import type { Guard } from '../http/request-guards.ts'

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
    // A text without a media range says nothing (RFC 9110 section 12.5.1), such as the `*` of some clients.
    if (!accept?.includes('/') || accept.length > maxAccept) return first
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
