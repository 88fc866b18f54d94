import { AsyncResource } from 'node:async_hooks'
import type { FastifyReply, FastifyRequest, RouteShorthandOptionsWithHandler } from 'fastify'
import type { Conclude, Verifiers } from '../auth/verifiers.ts'
import { type BodyMemory, bodyLength, smallBody } from '../http/read-body.ts'
import { contextOf, recordClient, recordOperation } from '../http/request-context.ts'
import {
  type Admit,
  checkExpectation,
  checkFraming,
  checkHead,
  checkRoute,
  type Hook,
  identify,
  inOrder,
  type Step,
  shedLoad,
} from '../http/request-guards.ts'
import { parseCookies } from '../http/request-head.ts'
import { abortStream, endSource, isLate, type OpenScopes, streamScope } from '../http/streams.ts'
import { closeUnread, uploadFailure } from '../http/upload.ts'
import type { Operation, Routes } from './contract.ts'
import { contentNegotiation, mayReadBody, mayStream, type Negotiation } from './media-types.ts'
import { parametersValidator, partValidatorCompiler, pathTexts } from './parameters.ts'
import { type BodyBounds, bodySteps, type RequestBody, requestBody } from './request-body.ts'
import { responseSerializerCompiler } from './response-serializer.ts'
import { authenticator } from './security.ts'
import { isStream, type Outcome, responseSender } from './send-response.ts'
import { type Validator, valueOrThrow } from './validator.ts'

/*
 * The steps of a request, in order: first those of every request, then those of its operation. A step that rejects a
 * request ends it; http/error-responses.ts sends the error response.
 */

type Guards = {
  admit: Admit
  /** Returns the methods of a path; an empty list if the path is unknown. */
  allowedMethods(url: string): string[]
  headersLimit: number
  /** Responds to preflight requests; undefined if no other origins are allowed. */
  preflight: Step | undefined
}

/** Returns the steps of every request, as Fastify hooks that run before the hooks of a route. */
export const stepsOfEveryRequest = ({ admit, allowedMethods, headersLimit, preflight }: Guards): Hook[] => [
  checkFraming(headersLimit), // 431
  inOrder([
    identify,
    checkHead, // 400
    ...(preflight === undefined ? [] : [preflight]), // 204
    shedLoad(admit), // 503
    checkExpectation, // 417
    checkRoute(allowedMethods), // 404, 405
  ]),
]

type OperationParts = {
  operation: Operation
  schemas: Routes['schemas']
  validator: Validator
  verifiers: Verifiers
  conclude: Conclude
  openStreams: OpenScopes
  handler: AnyHandler
  run: Run
  bounds: BodyBounds
}

/** Returns the steps of requests to one operation, as Fastify route options. */
export function stepsOfOperation(parts: OperationParts): RouteShorthandOptionsWithHandler {
  const { operation, schemas, validator, openStreams, bounds } = parts
  const negotiation = contentNegotiation(operation.schema)
  const splitPath = pathTexts(operation.parameters)
  const body = requestBody(operation, validator, bounds, schemas)
  const isStreamed = mayStream(operation.schema)
  return {
    onRequest: [
      ...(operation.deprecation === undefined ? [] : [announce(operation.deprecation)]),
      authenticate(parts), // 401, 403, 429
      ...(negotiation === undefined ? [] : [inOrder([negotiation.check])]), // 406
      ...bodySteps(operation, body), // 415
    ],
    // http/read-body.ts reads the body, unless the handler does: 413, 503, 400
    ...(splitPath !== undefined && { preValidation: splitPath }),
    validatorCompiler: partValidatorCompiler(operation, validator, body), // 400
    ...((isStreamed || body?.open !== undefined) && {
      preHandler: [openStreams(isStreamed), ...(body?.open === undefined ? [] : [body.open])],
    }),
    handler: operationHandler({ ...parts, body, negotiation, memory: bounds.memory }),
    serializerCompiler: responseSerializerCompiler(schemas, validator), // 500
  }
}

/** Adds the headers that announce the end of an operation to each of its responses. */
const announce =
  (headers: Record<string, string>): Hook =>
  (_request, reply, done) => {
    reply.headers(headers)
    done()
  }

function authenticate({ operation: { operationId, security }, verifiers, conclude }: OperationParts): Hook {
  const verify = authenticator(security, verifiers)
  return (request, reply, done) => {
    const context = contextOf(request.raw)
    recordOperation(context, operationId)
    verify(request, (refusal, client) => {
      recordClient(context, client)
      const concluded = conclude(request, refusal, client, reply)
      // If the connection has closed while the verifier waited, the request ends here: later steps do not check that.
      if (!reply.raw.destroyed) done(concluded)
    })
  }
}

/** A handler of any operation; handler-types.ts has the exact type of each. */
export type AnyHandler = (request: never) => Promise<Outcome>

/** Calls `done` with the outcome of a handler, or earlier with an error, for example at a timeout. */
export type Run = (outcome: Promise<Outcome>, done: (error: unknown, outcome?: Outcome) => void) => void

/** How the handler of an operation is called. */
type Call = {
  operation: Operation
  handler: AnyHandler
  run: Run
  validator: Validator
  /** Undefined if the operation has no body, or if its only media type is plain JSON. */
  body: RequestBody | undefined
  /** Undefined if a client has no choice of media types. */
  negotiation: Negotiation | undefined
  /** The memory budget of the bodies. */
  memory: BodyMemory
}

/** Returns Fastify's handler of an operation: it calls the given handler and sends its outcome, or its error. */
export function operationHandler(call: Call) {
  const { operation, run, memory } = call
  const inputOf = handlerInput(call)
  const handler = mayStream(operation.schema) ? endingLateStreams(call.handler) : call.handler
  const respond = outcomeSender(operation, call.validator)
  const queueResponse = responseQueue<Parameters<typeof respond>>((response) => respond(...response))
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const input = inputOf(request)
    const bytes = bodyLength(request.raw)
    // Frees the body: with pipelining, the response may wait long for earlier ones of its connection.
    if (bytes >= smallBody) request.body = undefined
    run(memory.during(bytes, handler(input as never)), (error, outcome) => {
      // At once, since the handler may return a late stream before a queued response is sent.
      if (outcome === undefined) abortStream(request.raw)
      // After a large body the response is not queued, since the body would stay in memory until it is sent.
      if (bytes < smallBody) queueResponse([reply, error, outcome])
      else respond(reply, error, outcome)
    })
  }
}

const none = Object.freeze({})

/**
 * Returns a function that collects the input of an operation's handler from a request that Fastify has validated. It
 * validates cookies itself, since Fastify does not, and throws a ContractError for invalid ones.
 */
function handlerInput({ operation, validator, body, negotiation }: Call): (request: FastifyRequest) => object {
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
  const isStreamed = mayStream(schema) || mayReadBody(schema)
  if (negotiation === undefined && !isStreamed && body === undefined) return plain
  return (request: FastifyRequest) => ({
    ...plain(request),
    ...body?.bodyOf(request),
    ...(negotiation !== undefined && { accept: negotiation.choose(request.headers.accept) }),
    ...(isStreamed && { signal: streamScope(request.raw).signal }),
  })
}

const pick = (headers: Record<string, unknown>, names: string[]): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(headers, name) ? [[name, headers[name]]] : [])))

/** Wraps a handler: if it returns a stream after the handler timeout, the stream is ended. */
const endingLateStreams =
  (handler: AnyHandler): AnyHandler =>
  async (request: { signal: AbortSignal }) => {
    const outcome = await handler(request as never)
    if (isLate(request.signal)) endStream(outcome)
    return outcome
  }

/** Ends the stream of an outcome that is not sent, if it has one. */
function endStream(outcome: { body: unknown } | undefined): void {
  if (isStream(outcome?.body)) endSource(outcome.body)
}

/**
 * Returns a function that sends the response for the outcome of a handler, or for its error. If the handler may read
 * the body and the upload failed, the response reports that failure instead of the error that the handler threw.
 */
function outcomeSender(operation: Operation, validator: Validator) {
  const send = responseSender(operation, validator)
  const fail = (reply: FastifyReply, thrown: unknown) =>
    reply.send(thrown instanceof Error ? thrown : new Error('the thrown value is not an Error', { cause: thrown }))
  return (reply: FastifyReply, error: unknown, outcome?: Outcome): void => {
    const { raw } = reply.request
    closeUnread(raw, reply.raw)
    try {
      if (outcome === undefined) throw uploadFailure(raw) ?? error
      send(reply, outcome)?.catch((thrown) => fail(reply, thrown))
    } catch (thrown) {
      endStream(outcome)
      fail(reply, thrown)
    }
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
