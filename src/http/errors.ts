/**
 * The numbers of the contract's table of errors that do not belong to an operation: HTTP status times 100 plus a number
 * of its own. Never reused.
 */
export const errorNumbers = {
  malformedRequest: 40000,
  undecodableTarget: 40001,
  notJson: 40002,
  invalid: 40003,
  missingToken: 40100,
  invalidToken: 40101,
  noSuchPath: 40400,
  noSuchMethod: 40500,
  tooSlow: 40800,
  bodyTooLarge: 41300,
  unsupportedMediaType: 41500,
  unsupportedEncoding: 41501,
  expectationFailed: 41700,
  tooManyRequests: 42900,
  headersTooLarge: 43100,
  internal: 50000,
  unavailable: 50300,
} as const

/**
 * An error that the contract describes: thrown anywhere below a request, it leaves the server with its status, its
 * headers and an Error body. The message goes to the client.
 */
export class ContractError extends Error {
  override readonly name = 'ContractError'
  readonly error: number
  readonly statusCode: number

  constructor(
    kind: keyof typeof errorNumbers,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message)
    this.error = errorNumbers[kind]
    this.statusCode = Math.trunc(this.error / 100)
  }

  /** The Error body of the contract. */
  get body(): { error: number; message: string } {
    return { error: this.error, message: this.message }
  }
}

/** What is thrown by something that cannot answer now; retryAfter is in seconds. */
type Unavailable = Error & { retryAfter: number }

const isUnavailable = (error: unknown): error is Unavailable =>
  error instanceof Error && 'retryAfter' in error && typeof error.retryAfter === 'number'

/** The parts of an error of Fastify or Node that say which way out it takes. */
type Coded = { code?: string; statusCode?: number; message?: string }

/**
 * Takes anything that was thrown below a request or raised by the HTTP parser; gives what the client is told.
 * Whatever is not known here is an internal error, of which the client learns nothing.
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
