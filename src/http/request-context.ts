import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { Client } from './authenticated-client.ts'
import type { ContractError, ErrorName } from './errors.ts'

/**
 * What is known of one request and its answer, for a log and for metrics; only the functions of this file change it. It
 * holds nothing that a client chose freely: no path, no header.
 */
export type RequestContext = {
  /** The client's own X-Request-Id where that is well formed. */
  readonly id: string
  /** Of a valid traceparent: the ids of the trace and of the client's span. */
  readonly trace: { traceId: string; parentId: string } | undefined
  readonly method: string
  /** The operationId, once a route is found. */
  readonly operation: string | undefined
  /** The client, once it is authenticated. */
  readonly client: Client | undefined
  /** The address that the request comes from, as a trusted proxy tells it. */
  readonly address: string | undefined
  /** Of the answer; 0 when the connection was gone before there was one. */
  readonly status: number
  /** Number of the contract's table of errors. */
  readonly error: number | undefined
  /** The name of that error, where the service itself refused the request. */
  readonly refusal: ErrorName | undefined
  /** As performance.now() has it. */
  readonly started: number
  /** Milliseconds, once it is over. */
  readonly duration: number
}

type Mutable = { -readonly [Key in keyof RequestContext]: RequestContext[Key] }

/** Hears of every request: when it has arrived, and when its answer has left or never will. */
export type Observer = {
  begin(context: RequestContext): void
  end(context: RequestContext): void
}

const key = Symbol('request context')

type Request = IncomingMessage & { [key]?: Mutable }

/** Returns the context of a request, always the same one. */
export function contextOf(request: Request): RequestContext {
  request[key] ??= newContext(request.method as string, request.headers)
  return request[key]
}

/** Returns the context of a request of which nothing but the given parts need be known. */
export const newContext = (method: string, headers: IncomingMessage['headers'] = {}): Mutable => ({
  id: requestId(headers['x-request-id']),
  trace: traceOf(headers.traceparent),
  method,
  operation: undefined,
  client: undefined,
  address: undefined,
  status: 0,
  error: undefined,
  refusal: undefined,
  started: performance.now(),
  duration: 0,
})

/** Records where a request comes from. */
export function recordAddress(context: RequestContext, address: string | undefined): void {
  ;(context as Mutable).address = address
}

/** Records the operationId of a request's route. */
export function recordOperation(context: RequestContext, operationId: string): void {
  ;(context as Mutable).operation = operationId
}

/** Records the client that a request was authenticated for, if any. */
export function recordClient(context: RequestContext, client: Client | undefined): void {
  ;(context as Mutable).client = client
}

/** Records the error that the service answers with. */
export function recordRefusal(context: RequestContext, { error, kind }: ContractError): void {
  ;(context as Mutable).error = error
  ;(context as Mutable).refusal = kind
}

/** Records the error number of a handler's outcome, undefined for an outcome that is no error. */
export function recordError(context: RequestContext, error: number | undefined): void {
  ;(context as Mutable).error = error
}

/** Records the end of a request: the status of its answer, undefined when none was sent, and how long it took. */
export function recordEnd(context: RequestContext, status: number | undefined): void {
  if (status !== undefined) (context as Mutable).status = status
  ;(context as Mutable).duration = performance.now() - context.started
}

/** No character that a log, a header or a shell would interpret. */
const wellFormedId = /^[\w.-]{1,128}$/

/** Of this process, before the number of each of its requests. */
const prefix = randomBytes(12).toString('base64url')
let requests = 0

const requestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && wellFormedId.test(given) ? given : [prefix, ++requests].join('-')

/** W3C Trace Context section 3.2.2: version, trace-id, parent-id, flags; later versions may go on after another dash. */
const traceparent = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/

function traceOf(given: string | string[] | undefined): RequestContext['trace'] {
  if (typeof given !== 'string') return undefined
  const [, version, traceId, parentId, more] = traceparent.exec(given) ?? []
  if (traceId === undefined || parentId === undefined || (version === '00' && more !== undefined)) return undefined
  return { traceId, parentId }
}
