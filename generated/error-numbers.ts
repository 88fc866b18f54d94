// Written by fastify-contract generate from plant-store.yaml; edit that instead.
/** The contract's table of errors: the HTTP status times 100, plus a number of its own. */
export const errorNumbers = {
  /** The request is not well-formed HTTP. */
  malformedRequest: 40000,
  /** The request target cannot be decoded. */
  undecodableTarget: 40001,
  /** The body is not JSON as described under Data. */
  notJson: 40002,
  /** The request does not match its schema; the message says where and why. */
  invalid: 40003,
  /** The access token is missing. */
  missingToken: 40100,
  /** The access token is not valid. */
  invalidToken: 40101,
  /** The access token lacks a scope that the operation needs. */
  insufficientScope: 40300,
  /** No resource has this path; trailing slashes are significant. */
  noSuchPath: 40400,
  /** The path does not support this method; see `Allow`. */
  noSuchMethod: 40500,
  /** `Accept` allows no media type of the response. */
  notAcceptable: 40600,
  /** The request took too long to arrive. */
  tooSlow: 40800,
  /** The id belongs to another plant. */
  idTaken: 40900,
  /** The body is too large. */
  bodyTooLarge: 41300,
  /** The media type is not supported; `Accept` lists those that are. */
  unsupportedMediaType: 41500,
  /** The content encoding is not supported; `Accept-Encoding` says so. */
  unsupportedEncoding: 41501,
  /** The expectation cannot be met. */
  expectationFailed: 41700,
  /** Too many requests; `Retry-After` says when to retry. */
  tooManyRequests: 42900,
  /** The header section is too large. */
  headersTooLarge: 43100,
  /** Internal error; `X-Request-Id` identifies it in the log. */
  internal: 50000,
  /** The service is temporarily unavailable; `Retry-After` says when to retry. */
  unavailable: 50300,
} as const
