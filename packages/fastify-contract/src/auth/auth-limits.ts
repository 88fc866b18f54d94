import type { FastifyRequest } from 'fastify'
import { ContractError, isUnauthenticated } from '../http/errors.ts'
import { contextOf } from '../http/request-context.ts'
import type { RateLimit } from '../limits/rate-limit.ts'
import type { Conclude, VerifierContext } from './verifier.ts'

/**
 * Returns the rate limits of authentication. `failures` counts requests with wrong or missing credentials by address,
 * and `requests` counts the requests of each client. Both count after the last scheme, since credentials that one
 * scheme rejects may be valid for another.
 */
export function authLimits(
  failures: RateLimit,
  requests: Pick<RateLimit, 'take'>,
): Pick<VerifierContext, 'withinFailureLimit'> & { conclude: Conclude } {
  return {
    withinFailureLimit: (request) => failures.wait(addressOf(request)) === 0,
    conclude(request, refusal, client) {
      // Valid tokens bypass the per-address limit, so that neighbors behind one address cannot lock each other out.
      if (isUnauthenticated(refusal)) return tooMany(failures.take(addressOf(request))) ?? refusal
      if (client !== undefined) return tooMany(requests.take(client.name)) ?? refusal
      return refusal
    },
  }
}

const addressOf: (request: Pick<FastifyRequest, 'raw'>) => string = ({ raw }) => String(contextOf(raw).address)

/** Returns the 429 error (RFC 6585 section 4) with `Retry-After` in seconds, or undefined for 0 seconds. */
const tooMany = (seconds: number): ContractError | undefined =>
  seconds === 0
    ? undefined
    : new ContractError('tooManyRequests', 'too many requests', { 'retry-after': String(Math.ceil(seconds)) })
