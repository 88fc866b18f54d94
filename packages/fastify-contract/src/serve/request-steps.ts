import type { FastifyReply, FastifyRequest, RouteShorthandOptionsWithHandler } from 'fastify'
import { bodyLength, smallBody } from '../http/read-body.ts'
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
import { abortStream, type OpenScopes } from '../http/streams.ts'
import { negotiation } from './content-negotiation.ts'
import { mayStream } from './media-types.ts'
import {
  afterUpload,
  endingLateStreams,
  endStream,
  handlerInput,
  responseQueue,
  type SendOutcome,
} from './operation-handler.ts'
import { partValidatorCompiler, pathTexts } from './parameters.ts'
import { type BodyBounds, bodySteps, requestBody } from './request-body.ts'
import { responseSerializerCompiler } from './response-serializer.ts'
import type { Operation, Routes } from './routes.ts'
import { authenticator, type Conclude, type Verifiers } from './security.ts'
import { type Outcome, responseSender } from './send-response.ts'
import type { Validator } from './validator.ts'

/** A handler of any operation; handler-types.ts has the exact type of each. */
export type AnyHandler = (request: never) => Promise<Outcome>

/** Calls `done` with the outcome of a handler, or earlier with an error, for example at a timeout. */
export type Run = (outcome: Promise<Outcome>, done: (error: unknown, outcome?: Outcome) => void) => void

type Guards = {
  admit: Admit
  /** Returns the methods of a path; an empty list if the path is unknown. */
  allowedMethods(url: string): string[]
  headersLimit: number
  /** Responds to preflight requests; undefined if no other origins are allowed. */
  preflight: Step | undefined
}

/*
 * The steps of a request, in order: first those of every request, then those of its operation. A step that rejects a
 * request ends it; http/error-responses.ts sends the error response.
 */

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
  const negotiated = negotiation(operation.schema)
  const splitPath = pathTexts(operation.parameters)
  const body = requestBody(operation, validator, bounds, schemas)
  const isStreamed = mayStream(operation.schema)
  return {
    onRequest: [
      authenticate(parts), // 401, 403, 429
      ...(negotiated === undefined ? [] : [inOrder([negotiated.check])]), // 406
      ...bodySteps(operation, body), // 415
    ],
    // http/whole-body.ts reads the body, unless the handler does: 413, 503, 400
    ...(splitPath !== undefined && { preValidation: splitPath }),
    validatorCompiler: partValidatorCompiler(operation, validator, body), // 400
    ...((isStreamed || body?.open !== undefined) && {
      preHandler: [openStreams(isStreamed), ...(body?.open === undefined ? [] : [body.open])],
    }),
    handler: handle(parts, handlerInput(operation, validator, body), responseSender(operation, validator)),
    serializerCompiler: responseSerializerCompiler(schemas, validator), // 500
  }
}

function authenticate({ operation: { operationId, security }, verifiers, conclude }: OperationParts): Hook {
  const verify = authenticator(security, verifiers)
  return (request, reply, done) => {
    const context = contextOf(request.raw)
    recordOperation(context, operationId)
    verify(request, (refusal, client) => {
      recordClient(context, client)
      const concluded = conclude(request, refusal, client)
      // If the connection has closed while the verifier waited, the request ends here: later steps do not check that.
      if (!reply.raw.destroyed) done(concluded)
    })
  }
}

function handle(
  { operation, handler: given, run, bounds: { memory } }: OperationParts,
  inputOf: (request: FastifyRequest) => unknown,
  send: ReturnType<typeof responseSender>,
) {
  const handler = mayStream(operation.schema) ? (endingLateStreams(given as never) as AnyHandler) : given
  const fail = (reply: FastifyReply, thrown: unknown) =>
    reply.send(thrown instanceof Error ? thrown : new Error('the thrown value is not an Error', { cause: thrown }))
  const sendOutcome: SendOutcome = (reply, error, outcome) => {
    try {
      if (outcome === undefined) throw error
      send(reply, outcome)?.catch((thrown) => fail(reply, thrown))
    } catch (thrown) {
      endStream(outcome)
      fail(reply, thrown)
    }
  }
  const respond = afterUpload(operation.schema, sendOutcome)
  const queueResponse = responseQueue<Parameters<SendOutcome>>((response) => respond(...response))
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
