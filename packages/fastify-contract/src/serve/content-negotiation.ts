import Negotiator from 'negotiator'
import { addVary } from '../http/cors.ts'
import { ContractError } from '../http/errors.ts'
import type { Step } from '../http/request-guards.ts'
import type { RouteSchema } from './routes.ts'

/**
 * Characters. A longer Accept header is ignored, as RFC 9110 section 12.5.1 allows: each of its ranges is compared with
 * each media type, which takes half a millisecond for twenty media types.
 */
const maxAccept = 500

/** The content negotiation of an operation. */
export type Negotiation = {
  /** Returns the media type that a request with this Accept prefers. */
  choose(accept: string | undefined): string
  /** Rejects with 406 a request that accepts none of the media types. */
  check: Step
}

/**
 * Returns the content negotiation of an operation: the choice among the media types of the successful responses that
 * have several. Undefined if no response has several. If only an error has several, no request is rejected: an error in
 * another media type is better than none (RFC 9110 section 15.5.7).
 */
export function contentNegotiation({ response }: Pick<RouteSchema, 'response'>): Negotiation | undefined {
  const statuses = Object.keys(response)
  const successes = statuses.filter((status) => status.startsWith('2'))
  /** Returns the media types of those responses that have several. */
  const choicesOf = (keys: string[]) => [
    ...new Set(
      keys.map((key) => Object.keys(response[key]?.content ?? {})).flatMap((types) => (types.length > 1 ? types : [])),
    ),
  ]
  const successTypes = choicesOf(successes.length > 0 ? successes : ['default'])
  const offered = successTypes.length > 0 ? successTypes : choicesOf(statuses)
  const [first] = offered
  if (first === undefined) return undefined
  const preferred = (accept: string | undefined): string | undefined => {
    if (!accept || accept.length > maxAccept) return first
    return new Negotiator({ headers: { accept } }).mediaType(offered)
  }
  return {
    choose: (accept) => preferred(accept) ?? first,
    check({ headers: { accept } }, reply) {
      addVary(reply, 'Accept')
      if (successTypes.length === 0 || preferred(accept) !== undefined) return undefined
      return new ContractError('notAcceptable', `the available media types are ${offered.join(', ')}`)
    },
  }
}
