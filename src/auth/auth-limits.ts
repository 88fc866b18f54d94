import type { FastifyRequest } from 'fastify'
import { ContractError, isUnauthenticated } from '../http/errors.ts'
import { contextOf } from '../http/request-context.ts'
import type { RateLimit } from '../limits/rate-limit.ts'
import type { Conclude } from '../openapi/security.ts'

/** Returns whether the credentials of a request may cost more than a look-up. */
export type MayCost = (request: Pick<FastifyRequest, 'raw'>) => boolean

/** Sets no limit on what the credentials of a request may cost. */
export const always: MayCost = () => true

/**
 * Returns the limits on authentication: `failures` counts requests with wrong or missing credentials by address,
 * `requests` those of each client. Both count when every scheme was asked, since what one refuses another may accept.
 */
export function authLimits(failures: RateLimit, requests: RateLimit): { mayCost: MayCost; conclude: Conclude } {
  return {
    mayCost: (request) => failures.wait(addressOf(request)) === 0,
    conclude(request, refusal, client, ignored) {
      // Valid tokens bypass the per-address limit, so that neighbours behind one address cannot lock each other out.
      if (isUnauthenticated(refusal)) return tooMany(failures.take(addressOf(request))) ?? refusal
      if (client !== undefined) return tooMany(requests.take(client.name)) ?? refusal
      // An operation that needs no credentials must not allow unlimited guesses of them.
      if (isWrong(ignored)) failures.take(addressOf(request))
      return refusal
    },
  }
}

const addressOf: (request: Pick<FastifyRequest, 'raw'>) => string = ({ raw }) => String(contextOf(raw).address)

const isWrong = (refusal: Error | undefined): boolean =>
  refusal instanceof ContractError && refusal.kind === 'invalidToken'

/** RFC 6585 section 4. */
const tooMany = (seconds: number): ContractError | undefined =>
  seconds === 0
    ? undefined
    : new ContractError('tooManyRequests', 'too many requests', { 'retry-after': String(Math.ceil(seconds)) })
