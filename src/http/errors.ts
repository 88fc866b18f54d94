import { errorNumbers } from '../../generated/error-numbers.ts'

/** A name of the contract's table of errors. */
export type ErrorName = keyof typeof errorNumbers

/**
 * An error of the contract: thrown anywhere below a request, it leaves the service with its status, its headers and a body
 * of the contract's shape. The message goes to the client.
 */
export class ContractError extends Error {
  override readonly name = 'ContractError'
  readonly kind: ErrorName
  readonly headers: Record<string, string>
  readonly error: number
  readonly statusCode: number

  constructor(kind: ErrorName, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.kind = kind
    this.headers = headers
    this.error = errorNumbers[kind]
    this.statusCode = Math.trunc(this.error / 100)
  }
}

/** Returns the error of a body with more bytes than allowed. */
export const bodyTooLarge = (limit: number): ContractError =>
  new ContractError('bodyTooLarge', `the body has more than ${limit} bytes`)

/** Returns whether a thrown value is a 401 of the contract. */
export const isUnauthenticated = (thrown: unknown): thrown is ContractError =>
  thrown instanceof ContractError && thrown.statusCode === 401

/** An error of a dependency that cannot answer now; retryAfter is in seconds. */
type Unavailable = Error & { retryAfter: number }

const isUnavailable = (error: unknown): error is Unavailable =>
  error instanceof Error && 'retryAfter' in error && typeof error.retryAfter === 'number'

/** The parts of an error of Fastify or Node by which its answer is chosen. */
type Coded = { code?: string; statusCode?: number; message?: string }

/**
 * Returns the error that a client gets for anything that was thrown below a request or raised by the HTTP parser. An
 * error that is not known here is an internal one, of which the client learns nothing.
 */
export function toContractError(thrown: unknown): ContractError {
  if (thrown instanceof ContractError) return thrown
  if (isUnavailable(thrown)) {
    return new ContractError('unavailable', 'the service cannot answer now', {
      'retry-after': String(Math.ceil(thrown.retryAfter)),
    })
  }
  const { code = '', statusCode = 500 } = (thrown ?? {}) as Coded
  switch (code) {
    case 'FST_ERR_BAD_URL':
      return new ContractError('undecodableTarget', 'the request target cannot be decoded')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ContractError('noSuchPath', 'there is nothing at this path')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ContractError('tooSlow', 'the request took too long to arrive')
    case 'HPE_HEADER_OVERFLOW':
      return new ContractError('headersTooLarge', 'the header section is too large')
  }
  if (code.startsWith('HPE_') || (statusCode >= 400 && statusCode < 500)) {
    return new ContractError('malformedRequest', 'the request is not well-formed HTTP')
  }
  return new ContractError('internal', 'the service failed')
}
