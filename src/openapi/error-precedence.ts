import { ContractError, isUnauthenticated } from '../http/errors.ts'

/** Statuses from the least to the most specific. Any other status, such as 503, outranks them all. */
const order = [401, 403, 429]

const challengeHeader = 'www-authenticate'

/**
 * Returns the more specific of two rejections, or the first if they are equal. A 401 lists the challenges of both,
 * since either scheme is sufficient (RFC 9110 section 11.6.1).
 */
export function moreSpecificError(first: Error, second: Error): Error {
  const heavier = weightOf(second) > weightOf(first) ? second : first
  if (!isUnauthenticated(heavier)) return heavier
  // A 401 ranks lowest, so the other rejection is a 401 too, and both have challenges.
  const challenges = withoutRepeats(challengesOf(first as ContractError), challengesOf(second as ContractError))
  if (challenges === challengesOf(heavier)) return heavier
  return new ContractError(heavier.kind, heavier.message, { ...heavier.headers, [challengeHeader]: challenges })
}

/** Ranks by status, then by error number: a wrong token is more specific than a missing one. */
function weightOf(refusal: Error): number {
  if (!(refusal instanceof ContractError)) return Number.POSITIVE_INFINITY
  const place = order.indexOf(refusal.statusCode)
  return (place === -1 ? order.length : place) * 100_000 + refusal.error
}

const challengesOf = ({ headers }: ContractError): string => headers[challengeHeader] ?? ''

function withoutRepeats(first: string, second: string): string {
  if (first.includes(second)) return first
  return second.includes(first) ? second : `${first}, ${second}`
}
