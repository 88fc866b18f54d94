import { ContractError, isUnauthenticated } from '../http/errors.ts'

/** Statuses from the least to the most specific. Any other status, such as 503, outranks them all. */
const order = [401, 403, 429]

const challengeHeader = 'www-authenticate'

/**
 * Returns the more specific of two rejections, or the first if they are equal. A 401 lists the challenges of both,
 * since either scheme is sufficient (RFC 9110 section 11.6.1).
 */
export function moreSpecificError(first: Error, second: Error): Error {
  const chosen = rankOf(second) > rankOf(first) ? second : first
  if (!isUnauthenticated(chosen)) return chosen
  // A 401 ranks lowest, so the other rejection is a 401 too, and both have challenges.
  const challenges = withoutRepeats(challengesOf(first as ContractError), challengesOf(second as ContractError))
  if (challenges === challengesOf(chosen)) return chosen
  return new ContractError(chosen.kind, chosen.message, { ...chosen.headers, [challengeHeader]: challenges })
}

/** Ranks by status, then by error number: a wrong token is more specific than a missing one. */
function rankOf(refusal: Error): number {
  if (!(refusal instanceof ContractError)) return Number.POSITIVE_INFINITY
  const index = order.indexOf(refusal.statusCode)
  return (index === -1 ? order.length : index) * 100_000 + refusal.error
}

const challengesOf = ({ headers }: ContractError): string => headers[challengeHeader] ?? ''

function withoutRepeats(first: string, second: string): string {
  if (first.includes(second)) return first
  return second.includes(first) ? second : `${first}, ${second}`
}
