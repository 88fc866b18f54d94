import { ContractError, isUnauthenticated } from '../http/errors.ts'

/** A later status is more telling; any status not listed, such as 503, is the most telling. */
const order = [401, 403, 429]

const challengeHeader = 'www-authenticate'

/**
 * Returns the more telling of two refusals, the first of two alike. A 401 names the challenges of both, since either
 * scheme would do (RFC 9110 section 11.6.1).
 */
export function weightierRefusal(first: Error, second: Error): Error {
  const heavier = weightOf(second) > weightOf(first) ? second : first
  if (!isUnauthenticated(heavier)) return heavier
  // Only another 401 is less telling than a 401, so both have challenges.
  const challenges = withoutRepeats(challengesOf(first as ContractError), challengesOf(second as ContractError))
  if (challenges === challengesOf(heavier)) return heavier
  return new ContractError(heavier.kind, heavier.message, { ...heavier.headers, [challengeHeader]: challenges })
}

/** Of one status, the higher error number tells more: the token was not missing but wrong. */
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
