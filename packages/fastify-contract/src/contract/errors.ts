/**
 * The errors that the service itself sends, by name. `error` is the HTTP status times 100, plus a number of its own; a
 * document may give them other numbers.
 */
export const serviceErrors = {
  malformedRequest: { error: 40000, meaning: 'The request is not well-formed HTTP' },
  undecodableTarget: { error: 40001, meaning: 'The request target cannot be decoded' },
  notJson: { error: 40002, meaning: 'The body is not JSON' },
  invalid: { error: 40003, meaning: 'The request does not match its schema' },
  missingToken: { error: 40100, meaning: 'The credentials are missing' },
  invalidToken: { error: 40101, meaning: 'The credentials are not valid' },
  insufficientScope: { error: 40300, meaning: 'The credentials lack a scope' },
  noSuchPath: { error: 40400, meaning: 'No resource has this path' },
  noSuchMethod: { error: 40500, meaning: 'The path does not have this method' },
  notAcceptable: { error: 40600, meaning: 'The client accepts no media type of the response' },
  tooSlow: { error: 40800, meaning: 'The request took too long to arrive' },
  preconditionFailed: { error: 41200, meaning: 'A precondition of the request failed' },
  bodyTooLarge: { error: 41300, meaning: 'The body is too large' },
  unsupportedMediaType: { error: 41500, meaning: 'The media type is not supported' },
  unsupportedEncoding: { error: 41501, meaning: 'The content encoding is not supported' },
  expectationFailed: { error: 41700, meaning: 'The expectation cannot be met' },
  preconditionRequired: { error: 42800, meaning: 'The request must have a precondition' },
  tooManyRequests: { error: 42900, meaning: 'Too many requests' },
  headersTooLarge: { error: 43100, meaning: 'The header section is too large' },
  internal: { error: 50000, meaning: 'Internal error' },
  notImplemented: { error: 50100, meaning: 'The operation is not implemented' },
  unavailable: { error: 50300, meaning: 'The service is temporarily unavailable' },
}

/**
 * The errors of operations with idempotency keys. A document that lists the numbers of its errors need not have them: the
 * numbers below then apply.
 */
export const keyErrors = {
  requestInProgress: { error: 40900, meaning: 'A request with the same idempotency key is in progress' },
  keyReused: { error: 42200, meaning: 'The idempotency key belongs to a request with other content' },
}

/** The name of an error that the service itself sends. */
export type ErrorName = keyof typeof serviceErrors

const isErrorName = (kind: string): kind is ErrorName => Object.hasOwn(serviceErrors, kind)

const statusOf = (kind: ErrorName): number => Math.trunc(serviceErrors[kind].error / 100)

/*
 * The names and values that Node.js accepts (RFC 9110 sections 5.1 and 5.5). Its own functions are missing in browsers,
 * where the validator of schemas runs, too.
 */
const headerName = /^[\w!#$%&'*+.^`|~-]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * An error with its own response. When it is thrown while a request is handled, the client gets its status, its headers
 * and a body with its message, and with the number that the document has for `kind` in x-error-numbers. An ErrorName
 * has a status; any other name needs one. The constructor throws a TypeError for a header that HTTP does not allow
 * (RFC 9110 section 5): Node.js would throw when the response is written, too late for an error body.
 */
export class ContractError extends Error {
  override readonly name = 'ContractError'
  readonly kind: string
  readonly headers: Record<string, string>
  readonly statusCode: number

  constructor(kind: ErrorName, message: string, headers?: Record<string, string>)
  constructor(kind: string, message: string, headers: Record<string, string>, statusCode: number)
  constructor(
    kind: string,
    message: string,
    headers: Record<string, string> = {},
    statusCode = isErrorName(kind) ? statusOf(kind) : 500,
  ) {
    super(message)
    for (const [name, value] of Object.entries(headers))
      if (!headerName.test(name) || value === undefined || !headerValue.test(value))
        throw new TypeError(`the header ${JSON.stringify(name)} is not valid; use characters that RFC 9110 allows`)
    this.kind = kind
    this.headers = headers
    this.statusCode = statusCode
  }
}

/** Returns the error for a body larger than `limit` bytes. */
export const bodyTooLarge = (limit: number): ContractError =>
  new ContractError('bodyTooLarge', `the body has more than ${limit} bytes`)

/** Returns the error for a form with more than `limit` fields or parts. */
export const tooManyFields = (limit: number): ContractError =>
  new ContractError('bodyTooLarge', `the form has more than ${limit} fields`)

/** Returns the error for a request without a required body, by default one that should be JSON. */
export const missingBody = (kind: 'notJson' | 'invalid' = 'notJson'): ContractError =>
  new ContractError(kind, 'the body is missing')

/** Returns a 503 with a random Retry-After of 1 to 3 seconds, so that rejected clients do not all retry at once. */
export const overloaded = (message: string): ContractError =>
  new ContractError('unavailable', message, { 'retry-after': String(1 + Math.floor(3 * Math.random())) })

/** Returns a thrown value if it is an Error; otherwise an Error with it as the cause. */
export const errorOf = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('the thrown value is not an Error', { cause: thrown })

/** Returns whether a thrown value is a ContractError with status 401. */
export const isUnauthenticated = (thrown: unknown): thrown is ContractError =>
  thrown instanceof ContractError && thrown.statusCode === 401

/** Returns the name of the service's own error with a status; another name if it has none. */
export const errorNameOf = (status: number): string =>
  status === 400
    ? 'invalid'
    : (Object.keys(serviceErrors).find((kind) => statusOf(kind as ErrorName) === status) ?? `status${status}`)
