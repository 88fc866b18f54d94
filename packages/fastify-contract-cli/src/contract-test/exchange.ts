import type { SecurityRequirement } from 'fastify-contract/contract'
import type { Endpoint } from '../document/openapi-document.ts'

/** The parts of a request that can be wrong. */
export type RequestPart =
  | 'method'
  | 'path'
  | 'query'
  | 'header'
  | 'cookie'
  | 'credentials'
  | 'accept'
  | 'contentType'
  | 'body'

/** What makes a request invalid: the part, the place in it, and the reason, such as `body`, `/name`, `too long`. */
export type Violation = {
  part: RequestPart
  place: string
  reason: string
  /**
   * The service of this engine rejects it, but other servers may accept it, since they convert types, ignore formats or
   * take any media type. They must still respond without an error of their own.
   */
  isStrict?: true
}

/** Where the values of a request come from, in the order in which a test sends them. */
export type Source = 'example' | 'boundary' | 'pairwise' | 'random' | 'sequence'

/** The values that a request consists of, before they are written as text. */
export type RequestValues = {
  /** By location and name, such as `path id`; without the parameters that are left out. */
  parameters: ReadonlyMap<string, unknown>
  /** The media type and the value of the body; undefined without a body. */
  body: { mediaType: string; value: unknown } | undefined
}

/** A request of a contract test, as any target can send it. */
export type TestRequest = {
  operation: Endpoint
  /** The method that is sent, which differs from that of the operation for a check of other methods and of HEAD. */
  method: string
  /** The path, with the base path of its server, and the query. */
  target: string
  /** By name in lowercase, with the media type of the body and the credentials. */
  headers: Record<string, string>
  body: Uint8Array | undefined
  source: Source
  /** Undefined for a valid request. */
  violation: Violation | undefined
  values: RequestValues
  /** The idempotency key that is sent; default: a new one for each request to an operation that declares the header. */
  key?: string
}

/** The response to a request. */
export type TestResponse = {
  status: number
  /** By name in lowercase; several of `set-cookie` are a list. */
  headers: Record<string, string | string[]>
  body: Uint8Array
  milliseconds: number
}

/** A request with its response. */
export type Exchange = { request: TestRequest; response: TestResponse }

/**
 * The error with which `send` of a target rejects. Its kind says why a request has no response: the server cannot be
 * reached, its certificate is not trusted, the response is not complete within the time limit, is larger than the limit, or
 * is not valid HTTP; or the request cannot be sent.
 */
export type TargetFailure = Error & {
  kind: 'unreachable' | 'tls' | 'timeout' | 'tooLarge' | 'broken' | 'unsendable'
}

/** The server under test: an application in this process, or a URL. */
export type Target = {
  /** What the report calls it. */
  name: string
  /** Returns the target of a request as it is sent, with what precedes it at this server; default: that of the request. */
  sentTarget?: ((request: TestRequest) => string) | undefined
  /** Rejects with a `TargetFailure` if no complete response arrives within the time limit. */
  send(request: TestRequest): Promise<TestResponse>
  /** Sends only the first `length` bytes of the body, and closes the connection; undefined where that is impossible. */
  sendCut?: ((request: TestRequest, length: number) => Promise<void>) | undefined
  close(): Promise<void>
}

/** The credentials of a target for the security requirements of an operation. */
export type Credentials = {
  /** Returns a request with credentials that are accepted; undefined if there are none for its operation. */
  accepted(request: TestRequest): TestRequest | undefined
  /** Returns requests that must get 401 or 403: without, with wrong, and with too narrow credentials. */
  rejected(request: TestRequest): { request: TestRequest; status: 401 | 403; reason: string }[]
  /** Returns why there are none for the security requirements of an operation, and how to give some; undefined if some are. */
  missing?(security: SecurityRequirement[]): string | undefined
}
