import Negotiator from 'negotiator'
import { ContractError } from '../http/errors.ts'
import type { Step } from '../http/request-guards.ts'
import { addVary } from '../http/vary.ts'
import type { RouteSchema } from './routes.ts'

/**
 * Characters; a longer Accept counts as none, which RFC 9110 section 12.5.1 leaves to a server. Each range in it is
 * compared with each media type: half a millisecond for twenty.
 */
const maxAccept = 500

type Negotiation = {
  /** Returns the media type that a request with this Accept prefers. */
  choose(accept: string | undefined): string
  /** Refuses a request that accepts none of the media types: 406. */
  check: Step
}

/**
 * Returns how an operation chooses among the media types of its successful responses, those that have several; undefined
 * where none has. Where an error alone has several, no request is refused: an error in another media type is better than
 * none (RFC 9110 section 15.5.7).
 */
export function negotiation({ response }: Pick<RouteSchema, 'response'>): Negotiation | undefined {
  const statuses = Object.keys(response)
  const successes = statuses.filter((status) => status.startsWith('2'))
  const several = (keys: string[]) => [
    ...new Set(
      keys.map((key) => Object.keys(response[key]?.content ?? {})).flatMap((types) => (types.length > 1 ? types : [])),
    ),
  ]
  const ofSuccess = several(successes.length > 0 ? successes : ['default'])
  const offered = ofSuccess.length > 0 ? ofSuccess : several(statuses)
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
      if (ofSuccess.length === 0 || preferred(accept) !== undefined) return undefined
      return new ContractError('notAcceptable', `the media types are ${offered.join(', ')}`)
    },
  }
}
