import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { FastifyRequest } from 'fastify'
import type { ContractError } from '../contract/errors.ts'

/**
 * The facts about one request and its response, for the log and the metrics. Only the functions of this file change it.
 * It holds nothing that a client can choose freely, such as the path or a header.
 */
export type RequestContext = {
  /** The client's X-Request-Id if it is well-formed, else a generated id. */
  readonly id: string
  /** The ids of the trace and of the client's span, from a valid traceparent header. */
  readonly trace: { traceId: string; parentId: string } | undefined
  readonly method: string
  /** The prefix of the API, once the route is known; undefined if the server has only one API. */
  readonly api?: string
  /** The operationId, once the route is known. */
  readonly operation: string | undefined
  /** The client, once it is authenticated. */
  readonly client: Client | undefined
  /** The security scheme that has identified the client. */
  readonly scheme?: string | undefined
  /** The IP address of the client, as reported by a trusted proxy or the connection. */
  readonly address: string | undefined
  /** The status of the response; 0 if the connection closed before one was sent. */
  readonly status: number
  /** The number of the error, from x-error-numbers of the document. */
  readonly error: number | undefined
  /** The name of the error that rejected the request; undefined if a handler returned the error response. */
  readonly rejection: string | undefined
  /** Milliseconds, from performance.now(). */
  readonly started: number
  /** Milliseconds, once the request has ended. */
  readonly duration: number
}

/** The context for the functions of this file. */
type Mutable = { -readonly [Key in keyof RequestContext]: RequestContext[Key] }

/** Observes every request: `begin` when it has arrived, `end` when its response was sent or its connection closed. */
export type Observer = {
  begin(context: RequestContext): void
  end(context: RequestContext): void
}

const contextKey = Symbol('request context')

type Request = IncomingMessage & { [contextKey]?: Mutable }

/** Returns the context of a request, and creates it at the first call. */
export function contextOf(request: Request): RequestContext {
  request[contextKey] ??= newContext(request.method as string, request.headers)
  return request[contextKey]
}

/**
 * Returns the context of a request: its id, operation, client, address and trace. The operation and the client are
 * known from the preParsing hooks on.
 */
export const requestContext = ({ raw }: Pick<FastifyRequest, 'raw'>): RequestContext => contextOf(raw)

/** Creates a context. Connection errors without a request use it directly. */
export const newContext = (method: string, headers: IncomingMessage['headers'] = {}): Mutable => ({
  id: requestId(headers['x-request-id']),
  trace: traceOf(headers.traceparent),
  method,
  operation: undefined,
  client: undefined,
  scheme: undefined,
  address: undefined,
  status: 0,
  error: undefined,
  rejection: undefined,
  started: performance.now(),
  duration: 0,
})

/** Records the IP address of the client. */
export function recordAddress(context: Mutable, address: string | undefined): void {
  context.address = address
}

/** Records the prefix of the API to which a request belongs. */
export function recordApi(context: Mutable, api: string): void {
  context.api = api
}

/** Records the operationId of a request's route. */
export function recordOperation(context: Mutable, operationId: string): void {
  context.operation = operationId
}

/** Records the authenticated client, if any, and the security scheme that has identified it. */
export function recordClient(context: Mutable, client: Client | undefined, scheme: string | undefined): void {
  context.client = client
  context.scheme = scheme
}

/** Returns whether a status is recorded. What a handler returns afterwards is not sent, and must not be recorded. */
const hasStatus = ({ status }: RequestContext): boolean => status !== 0

/** Records the name and the number of the error with which the service rejects a request. */
export function recordRejection(context: Mutable, kind: string, number: number): void {
  if (hasStatus(context)) return
  context.error = number
  context.rejection = kind
}

/** Records the error number of a handler's outcome; undefined for a successful outcome. */
export function recordError(context: Mutable, error: number | undefined): void {
  if (!hasStatus(context)) context.error = error
}

/** Records the operation, the client and the error of a call that a request made within the server. */
export function recordCall(context: Mutable, { operation, client, scheme, error }: RequestContext): void {
  Object.assign(context, { operation, client, scheme, error })
}

/** Records the end of a request: its duration, and the status of its response; undefined if none was sent. */
export function recordEnd(context: Mutable, status: number | undefined): void {
  if (status !== undefined && !hasStatus(context)) context.status = status
  context.duration = performance.now() - context.started
}

/** Allows no character that a log, a header or a shell would interpret. */
const wellFormedId = /^[\w.-]{1,128}$/

/** Makes generated request ids unique across processes. */
const prefix = randomBytes(12).toString('base64url')
let requests = 0

const requestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && wellFormedId.test(given) ? given : `${prefix}-${++requests}`

/**
 * W3C Trace Context section 3.2.2: version, trace-id, parent-id, flags; later versions may append fields after a dash.
 */
const traceparent = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/

function traceOf(given: string | string[] | undefined): RequestContext['trace'] {
  if (typeof given !== 'string') return undefined
  const [, version, traceId, parentId, more] = traceparent.exec(given) ?? []
  if (traceId === undefined || parentId === undefined || (version === '00' && more !== undefined)) return undefined
  return { traceId, parentId }
}

/** An authenticated client. */
export type Client = {
  readonly name: string
  /** The scopes that its token grants (RFC 6749 section 3.3). */
  readonly scopes: readonly string[]
  /** Whom the client acts for, such as the user of a front end: the claim `sub` of a JWT. */
  readonly subject?: string
}

/**
 * The remote address of an injected request whose caller has none, as over a Unix socket. Without an address, `inject`
 * would take 127.0.0.1, which may be that of a trusted proxy.
 */
export const withoutAddress = 'without address'

/** Some proxies append the port; an IPv6 address is then in brackets, as in RFC 7239 section 6. */
const withPort = /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/

/**
 * Returns the IP address of the client: the one that a trusted proxy reports if it is valid, else that of the
 * connection. Undefined if the connection is already closed.
 */
export function clientAddress({ ip, socket }: FastifyRequest): string | undefined {
  if (ip === socket.remoteAddress) return ip
  const [, ipv6, ipv4] = withPort.exec(ip) ?? []
  const address = ipv6 ?? ipv4 ?? ip
  return isIP(address) > 0 ? address : socket.remoteAddress
}

/** Logs the error that caused a request to fail. The client gets no details of it. */
export const logFailure = ({ log, raw }: FastifyRequest, err: unknown): void =>
  log.error({ request_id: contextOf(raw).id, err }, 'request failed')

/** The serialized body of an error response, and the number of the error in the document's table. */
export type WrittenError = { number: number; contentType: string; text: string }

/** Serializes the body of an error response. Does not throw. */
export type WriteError = (error: ContractError, request: RequestContext) => WrittenError
