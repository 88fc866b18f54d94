import { AsyncResource } from 'node:async_hooks'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { contextOf } from '../http/request-context.ts'
import { parseCookies } from '../http/request-head.ts'
import { endSource, isLate, streamScope } from '../http/streams.ts'
import { closeUnread, uploadFailure } from '../http/upload.ts'
import { negotiation } from './content-negotiation.ts'
import { mayReadBody, mayStream } from './media-types.ts'
import { parametersValidator } from './parameters.ts'
import type { RequestBody } from './request-body.ts'
import type { Operation, RouteSchema } from './routes.ts'
import { isStream, type Outcome } from './send-response.ts'
import { type Validator, valueOrThrow } from './validator.ts'

const none = Object.freeze({})

/**
 * Returns a function that collects the input of an operation's handler from a request that Fastify has validated. It
 * validates cookies itself, since Fastify does not, and throws a ContractError for invalid ones.
 */
export function handlerInput(operation: Operation, validator: Validator, requestBody?: RequestBody) {
  const { schema, parameters } = operation
  const headerNames = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name)
  const cookies =
    schema.cookies === undefined ? undefined : parametersValidator(operation, 'cookie', schema.cookies, validator)
  const plain = (request: FastifyRequest) => ({
    body: request.body,
    path: schema.params === undefined ? none : request.params,
    query: schema.querystring === undefined ? none : request.query,
    header: headerNames.length === 0 ? none : pick(request.headers, headerNames),
    cookie: cookies === undefined ? none : valueOrThrow(cookies(parseCookies(request.headers.cookie))),
    client: contextOf(request.raw).client,
  })
  const negotiated = negotiation(schema)
  const isStreamed = mayStream(schema) || mayReadBody(schema)
  if (negotiated === undefined && !isStreamed && requestBody === undefined) return plain
  return (request: FastifyRequest) => ({
    ...plain(request),
    ...requestBody?.bodyOf(request),
    ...(negotiated !== undefined && { accept: negotiated.choose(request.headers.accept) }),
    ...(isStreamed && { signal: streamScope(request.raw).signal }),
  })
}

const pick = (headers: Record<string, unknown>, names: string[]): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(headers, name) ? [[name, headers[name]]] : [])))

type Streaming<Outcome> = (request: { signal: AbortSignal }) => Promise<Outcome>

/** Wraps a handler: if it returns a stream after the handler timeout, the stream is ended. */
export const endingLateStreams =
  <Outcome extends { body: unknown }>(handler: Streaming<Outcome>): Streaming<Outcome> =>
  async (request) => {
    const outcome = await handler(request)
    if (isLate(request.signal)) endStream(outcome)
    return outcome
  }

/** Ends the stream of an outcome that is not sent, if it has one. */
export function endStream(outcome: { body: unknown } | undefined): void {
  if (isStream(outcome?.body)) endSource(outcome.body)
}

/** Sends the response for the outcome of a handler, or for an error. */
export type SendOutcome = (reply: FastifyReply, error: unknown, outcome?: Outcome) => void

/**
 * Wraps the sender of an operation whose handler may read the body. If the upload failed, the response reports that
 * failure instead of the error that the handler threw.
 */
export function afterUpload(schema: RouteSchema, send: SendOutcome): SendOutcome {
  if (!mayReadBody(schema)) return send
  return (reply, error, outcome) => {
    const { raw } = reply.request
    closeUnread(raw, reply.raw)
    send(reply, outcome === undefined ? (uploadFailure(raw) ?? error) : error, outcome)
  }
}

/**
 * The maximum number of queued responses. libuv reads from all readable connections in one turn of the event loop, so
 * a longer queue would keep the objects of many requests alive until the garbage collector copies them.
 */
const maxQueued = 64

/** A queued response and the async context of its request. */
type Queued<Response> = { response: Response; context: AsyncResource }

/**
 * Returns a function that queues a response. Calls `send` for each queued response at the end of the event loop's turn,
 * or as soon as 64 are queued. Writing after all reads costs less: a write between two reads costs a fifth more.
 */
export function responseQueue<Response>(send: (response: Response) => void): (response: Response) => void {
  let queue: Queued<Response>[] = []
  let isArmed = false
  const flush = () => {
    const responses = queue
    queue = []
    // In the context of another request, hooks and streams would read its AsyncLocalStorage.
    for (const { response, context } of responses) context.runInAsyncScope(send, undefined, response)
  }
  const flushAtEndOfTurn = () => {
    isArmed = false
    flush()
  }
  return (response) => {
    if (queue.push({ response, context: new AsyncResource('QueuedResponse') }) === maxQueued) flush()
    else if (!isArmed) {
      isArmed = true
      setImmediate(flushAtEndOfTurn)
    }
  }
}
