import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'

/** One request and its answer, for a log and for metrics. What a client chose freely is not in it: no path, no header. */
export type Exchange = {
  /** The client's own X-Request-Id where that is well formed. */
  readonly id: string
  /** Of a valid traceparent: the ids of the trace and of the client's span. */
  readonly trace: { traceId: string; parentId: string } | undefined
  readonly method: string
  /** The operationId, once a route is found. */
  operation: string | undefined
  /** The name of the client, once it is authenticated. */
  client: string | undefined
  /** Where the request comes from; of a trusted proxy, the address that it tells. */
  address: string | undefined
  /** Of the answer; 0 when the connection was gone before there was one. */
  status: number
  /** Number of the contract's table of errors. */
  error: number | undefined
  /** As performance.now() has it. */
  readonly started: number
  /** Milliseconds, once it is over. */
  duration: number
}

/** Who is told of every exchange: when its request has arrived, and when its answer has left or never will. */
export type Observer = {
  begin(exchange: Exchange): void
  end(exchange: Exchange): void
}

const key = Symbol('exchange')

/** Takes a request; gives its exchange, always the same one. */
export function exchangeOf(request: IncomingMessage & { [key]?: Exchange }): Exchange {
  request[key] ??= newExchange(request.method as string, request.headers)
  return request[key]
}

/** Takes the head of a request, of which nothing need be known; gives its exchange. */
export const newExchange = (method: string, headers: IncomingMessage['headers'] = {}): Exchange => ({
  id: requestId(headers['x-request-id']),
  trace: traceOf(headers.traceparent),
  method,
  operation: undefined,
  client: undefined,
  address: undefined,
  status: 0,
  error: undefined,
  started: performance.now(),
  duration: 0,
})

/** Nothing that a log, a header or a shell would take for something else. */
const wellFormedId = /^[\w.-]{1,128}$/

/** Of this process, before the number of each of its requests. */
const prefix = randomBytes(12).toString('base64url')
let requests = 0

const requestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && wellFormedId.test(given) ? given : [prefix, ++requests].join('-')

/** W3C Trace Context section 3.2.2: version, trace-id, parent-id, flags; later versions may go on after another dash. */
const traceparent = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/

function traceOf(given: string | string[] | undefined): Exchange['trace'] {
  if (typeof given !== 'string') return undefined
  const [, version, traceId, parentId, more] = traceparent.exec(given) ?? []
  if (traceId === undefined || parentId === undefined || (version === '00' && more !== undefined)) return undefined
  return { traceId, parentId }
}
