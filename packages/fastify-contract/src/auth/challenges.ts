import { ContractError } from '../http/errors.ts'

/** The realm (RFC 9110 section 11.5): clients may send the same credentials to every path of it. */
const realm = 'plant-store'

/** Returns the challenge of an authentication scheme, with its parameters unchanged (RFC 9110 section 11.3). */
export const challengeOf = (scheme: string, ...parameters: string[]): string =>
  [`${scheme} realm="${realm}"`, ...parameters].join(', ')

/** Returns the 401 error for a request without credentials. */
export const missingCredentials = (message: string, challenge: string): ContractError =>
  new ContractError('missingToken', message, { 'www-authenticate': challenge })

/** Returns the 401 error for a request whose credentials are not valid. */
export const invalidCredentials = (message: string, challenge: string): ContractError =>
  new ContractError('invalidToken', message, { 'www-authenticate': challenge })
