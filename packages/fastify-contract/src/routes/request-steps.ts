import type { FastifyReply, FastifyRequest, RouteShorthandOptionsWithHandler } from 'fastify'
import { errorOf } from '../contract/errors.ts'
import { mayReadBody, mayStream } from '../contract/media-types.ts'
import type { Operation, Routes } from '../contract/routes.ts'
import type { Schema } from '../contract/schema-keywords.ts'
import { smallBody } from '../http/body-memory.ts'
import { callSafely } from '../http/caught-errors.ts'
import { bodyLength, checkEmptyBody } from '../http/read-body.ts'
import { contextOf } from '../http/request-context.ts'
import {
  checkExpectation,
  checkFraming,
  checkHead,
  checkLoad,
  checkRoute,
  type Guard,
  type Hook,
  inOrder,
} from '../http/request-guards.ts'
import { abortStream, endSource, isLate, keepError, type OpenScopes, streamScope } from '../http/streams.ts'
import { closeUnread, uploadFailure } from '../http/upload.ts'
import type { KeyedOperations } from '../idempotency/keyed-operations.ts'
import type { LoadShedder } from '../limits/limits.ts'
import { preconditionReader, preconditionsOf } from '../preconditions/request-preconditions.ts'
import { contentNegotiation, type Negotiation } from '../request/accept.ts'
import { ignoreContentType } from '../request/content-type.ts'
import { cookieReader } from '../request/cookie-parameters.ts'
import type { BodyBounds } from '../request/multipart-body.ts'
import { parametersIn } from '../request/parameters.ts'
import { pathOf, pathSplitter } from '../request/path-parameters.ts'
import { type RequestBody, requestBody } from '../request/request-body.ts'
import { validatorCompiler } from '../request/validator-compiler.ts'
import { conditionalSender } from '../response/conditional-response.ts'
import type { responseQueue } from '../response/response-queue.ts'
import {
  type HandlerResponse,
  type ResponseSenders,
  responseSenders,
  type SendResponse,
  sendResponse,
} from '../response/send-response.ts'
import { isStream } from '../response/streamed-body.ts'
import type { Validator } from '../schema/validator.ts'
import { locatedSender } from './located-response.ts'
import type { authentication } from './security.ts'

/*
 * The steps of a request, in order: first those of every request, then those of its operation. A step that rejects a
 * request ends it; http/error-responses.ts sends the error response.
 */

type Guards = {
  /** Sets what the later steps need on the request and the reply. */
  assign: Guard
  shedLoad: LoadShedder['shedLoad']
  /** Returns the methods of a path; an empty list if the path is unknown. */
  allowedMethods(url: string): string[]
  /** Responds to preflight requests; undefined if no other origins are allowed. */
  preflight?: Guard | undefined
  /** Adds Accept-Query to the response; undefined if no operation is a QUERY. */
  announceQuery?: Guard | undefined
}

/** Returns the steps of every request, as a Fastify hook that runs before the hooks of a route. */
export const stepsOfEveryRequest = ({ assign, shedLoad, allowedMethods, preflight, announceQuery }: Guards): Hook =>
  inOrder([
    assign,
    checkHead, // 400
    ...(preflight === undefined ? [] : [preflight]), // 204
    checkLoad(shedLoad), // 503
    checkExpectation, // 417
    ...(announceQuery === undefined ? [] : [announceQuery]),
    checkRoute(allowedMethods), // 404, 405
  ])

type Framing = {
  headersLimit: number
  assign: Guard
  /**
   * Removes the segment of request.url that selects one of the operations that share a path and differ in parameters;
   * undefined if there are none.
   */
  unmark: ((url: string) => string) | undefined
}

/** Returns a hook with the steps of every request that only a whole server has, followed by the others. */
export function stepsOfServer({ headersLimit, assign, unmark }: Framing, others: Hook): Hook {
  const steps = checkFraming(headersLimit, assign, others) // 431
  if (unmark === undefined) return steps
  return function removeSelector(request, reply, done) {
    // The router needs the segment that selects an operation no longer.
    request.raw.url = unmark(request.raw.url as string)
    steps(request, reply, done)
  }
}

type OperationParts = {
  operation: Operation
  handler: AnyHandler
  schemas: Routes['schemas']
  validator: Validator
  authenticate: ReturnType<typeof authentication>
  /** Whether a security scheme of the operation verifies the body. */
  isSigned: boolean
  openStreams: OpenScopes
  runWithTimeout: LoadShedder['runWithTimeout']
  queueResponse: ReturnType<typeof responseQueue>
  bounds: BodyBounds
  keyed: KeyedOperations
}

/** Returns the steps of requests to one operation, as Fastify route options. */
export function stepsOfOperation(parts: OperationParts): RouteShorthandOptionsWithHandler {
  const { operation, schemas, validator, openStreams, bounds } = parts
  const { preconditions } = operation
  const negotiation = contentNegotiation(operation.schema)
  const splitPath = pathSplitter(operation.parameters)
  const body = requestBody(operation, validator, bounds, schemas)
  const mayRespondWithStream = mayStream(operation.schema)
  const ending = mayRespondWithStream ? endingLateStreams : (handler: AnyHandler) => handler
  const handler = ending(parts.handler)
  const senders = responseSenders(operation, validator)
  const sendOwn = preconditions === undefined ? sendResponse : conditionalSender(operation, preconditions)
  const send = locatedSender(operation, sendOwn) ?? sendOwn
  const keyed = parts.keyed({ operation, handler, senders, send })
  // The store of the keys may take longer than the handler, so a stream may be late after it, too.
  const outerHandler = keyed === undefined ? handler : ending(keyed.handler)
  return {
    onRequest: [
      ...(operation.deprecation === undefined ? [] : [announce(operation.deprecation)]),
      parts.authenticate(operation), // 401, 403, 429
      ...(negotiation === undefined ? [] : [inOrder([negotiation.check])]), // 406
      ...(body === undefined ? withoutBody(operation) : [body.check]), // 415
      ...(preconditions === undefined ? [] : [inOrder([preconditionReader(preconditions)])]), // 400, 428
      ...(keyed === undefined ? [] : [keyed.prepare]),
    ],
    // The parsers of request/content-type-parsers.ts read the body, unless the handler does: 413, 503, 400
    preValidation: [
      ...(parts.isSigned ? [checkEmptyBody] : []), // 401
      ...(splitPath === undefined ? [] : [splitPath]),
    ],
    validatorCompiler: validatorCompiler(operation, validator, body), // 400
    ...((mayRespondWithStream || body?.open !== undefined) && {
      preHandler: [
        openStreams({ endsAtShutdown: mayRespondWithStream }),
        ...(body?.open === undefined ? [] : [body.open]),
      ],
    }),
    // 304, 412; with idempotency keys: 400, 409, 422, 503
    handler: operationHandler({ ...parts, handler: outerHandler }, body, negotiation, {
      senders,
      send: keyed?.send ?? send,
    }),
    serializerCompiler: ({ schema }) => validator.serializer(schema as Schema), // 500
  }
}

/** Returns the hooks of an operation without a request body. Fastify reads no body of a GET or HEAD. */
const withoutBody = ({ method }: Operation): Hook[] =>
  method === 'GET' || method === 'HEAD' ? [] : [inOrder([ignoreContentType])]

/** Adds the headers that announce the end of an operation to each of its responses. */
function announce(headers: Record<string, string>): Hook {
  return function announceEnd(_request, reply, done) {
    reply.headers(headers)
    done()
  }
}

/** A handler of any operation; handler-types.ts has the exact type of each. */
export type AnyHandler = (input: never, request: FastifyRequest) => Promise<HandlerResponse>

/** Bytes. The response to a larger body is not queued, since it may repeat the body, which would stay in memory. */
const maxQueuedBody = 16_384

/** How the responses of an operation are sent. */
type Sending = { senders: ResponseSenders; send: SendResponse }

/** Returns Fastify's handler of an operation: it calls the given handler and sends its response, or its error. */
function operationHandler(
  parts: OperationParts,
  body: RequestBody | undefined,
  negotiation: Negotiation | undefined,
  sending: Sending,
) {
  const { operation, handler, validator, runWithTimeout, queueResponse, bounds } = parts
  const inputOf = handlerInput(operation, validator, body, negotiation)
  return function handleOperation(request: FastifyRequest, reply: FastifyReply): void {
    const input = inputOf(request)
    const bytes = bodyLength(request.raw)
    // Frees the body: with pipelining, the response may wait long for earlier ones of its connection.
    if (bytes >= smallBody) request.body = undefined
    runWithTimeout(bounds.memory.hold(bytes, handler(input as never, request)), function sendResult(error, response) {
      // After a timeout, aborts now and not when the queued response is sent: a stream that the handler returns in
      // between must count as late.
      if (response === undefined) abortStream(request.raw)
      if (bytes <= maxQueuedBody) queueResponse(() => respond(sending, reply, error, response))
      else respond(sending, reply, error, response)
    })
  }
}

const noValues = Object.freeze({})

/**
 * Returns a function that collects the input of an operation's handler from a request that Fastify has validated. It
 * validates cookies itself, since Fastify does not, and throws a ContractError for invalid ones.
 */
function handlerInput(
  operation: Operation,
  validator: Validator,
  body: RequestBody | undefined,
  negotiation: Negotiation | undefined,
): (request: FastifyRequest) => object {
  const { schema, parameters, preconditions } = operation
  const isChecked = preconditions?.of === 'write'
  const headerNames = parametersIn(operation, 'header').map(({ name }) => name)
  const readCookies = cookieReader(operation, validator)
  const describedPath = pathOf(operation)
  const hasSignal = mayStream(schema) || mayReadBody(schema)
  const withParameters = (request: FastifyRequest) => ({
    body: body === undefined ? undefined : request.body,
    path: schema.params === undefined ? noValues : describedPath(request.params as object),
    query: schema.querystring === undefined ? noValues : request.query,
    header: headerNames.length === 0 ? noValues : pick(request.headers, headerNames),
    cookie: readCookies === undefined ? noValues : readCookies(request.headers.cookie), // 400
    client: contextOf(request.raw).client,
  })
  const withoutParameters = body === undefined ? noInput : bodyOnly
  const plain = parameters.length > 0 ? withParameters : withoutParameters
  // Spares most operations the spreads below.
  if (negotiation === undefined && !hasSignal && body?.bodyOf === undefined && !isChecked) return plain
  return function withFurtherInput(request: FastifyRequest) {
    return {
      ...plain(request),
      ...body?.bodyOf?.(request),
      ...(negotiation !== undefined && { accept: negotiation.choose(request.headers.accept) }),
      ...(hasSignal && { signal: streamScope(request.raw).signal }),
      ...(isChecked && { preconditions: preconditionsOf(request.raw).check }),
    }
  }
}

/** Collects the input of an operation with a body but no parameters. All of them share this function. */
const bodyOnly = ({ body, raw }: Pick<FastifyRequest, 'body' | 'raw'>) => ({
  body,
  path: noValues,
  query: noValues,
  header: noValues,
  cookie: noValues,
  client: contextOf(raw).client,
})

/** Collects the input of an operation without a body and parameters. A body that the client sends anyway is ignored. */
const noInput = ({ raw }: FastifyRequest) => bodyOnly({ body: undefined, raw })

const pick = (headers: Record<string, unknown>, names: string[]): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(headers, name) ? [[name, headers[name]]] : [])))

/**
 * Wraps a handler: if it returns a stream after the handler timeout, the stream is ended. The process survives a stream
 * that fails before it is read.
 */
const endingLateStreams =
  (handler: AnyHandler): AnyHandler =>
  async (input: { signal: AbortSignal }, request) => {
    const response = await handler(input as never, request)
    if (isStream(response?.body)) keepError(response.body)
    if (isLate(input.signal)) endStream(response)
    return response
  }

/** Ends the stream of a response that is not sent, if it has one. */
function endStream(response: { body: unknown } | undefined): void {
  if (isStream(response?.body)) endSource(response.body)
}

const fail = (reply: FastifyReply, thrown: unknown) => reply.send(errorOf(thrown))

const ignore = () => {}

/**
 * Sends the response of a handler, or its error. If the handler read the body and the upload failed, the response
 * reports that failure instead of the error that the handler threw.
 */
function respond({ senders, send }: Sending, reply: FastifyReply, error: unknown, response?: HandlerResponse): void {
  const { raw } = reply.request
  closeUnread(raw, reply.raw)
  try {
    if (response === undefined) throw uploadFailure(raw) ?? error
    // A stream that fails has ended its source itself.
    send(senders, reply, response)?.catch((thrown) => fail(reply, thrown))
  } catch (thrown) {
    fail(reply, thrown)
    // The response may have a getter that throws.
    callSafely(() => endStream(response), ignore)
  }
}
