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
import { abortStream, type OpenScopes } from '../http/stream-scope.ts'
import { handlerInput } from './handler-input.ts'
import { endingLateStreams, endStream } from './late-streams.ts'
import { mayStream } from './media-types.ts'
import { negotiation } from './negotiation.ts'
import { partValidatorCompiler } from './part-validator.ts'
import { pathTexts } from './path-texts.ts'
import { type BodyBounds, bodySteps, requestBody } from './request-body.ts'
import { responseQueue } from './response-queue.ts'
import { replySerializerCompiler } from './response-serializer.ts'
import type { Operation, Routes } from './routes.ts'
import { authenticator, type Conclude, type Verifiers } from './security.ts'
import { type Outcome, responseSender } from './send-response.ts'
import { afterUpload, type SendAnswer } from './upload-answers.ts'
import type { Validator } from './validator.ts'

/** A handler as the steps see it; handler-types.ts gives its type for each operation. */
export type AnyHandler = (request: never) => Promise<Outcome>

/** Calls `done` with the outcome of a handler; may call it, with an error, before the handler has its outcome. */
export type Run = (outcome: Promise<Outcome>, done: (error: unknown, outcome?: Outcome) => void) => void

type Guards = {
  admit: Admit
  /** Returns the methods of a path, none when it is unknown. */
  allowedMethods(url: string): string[]
  headersLimit: number
  /** Answers preflight requests, where other origins are allowed. */
  preflight: Step | undefined
}

/*
 * The steps of a request, in order: those of every request, then those of its operation. A step that refuses a request
 * ends it; http/error-responses.ts sends every refusal.
 */

/** Returns the steps of every request, as Fastify's hooks before a route's own. */
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

/** Returns the steps of a request to one operation, as Fastify's route options. */
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
    serializerCompiler: replySerializerCompiler(schemas, validator), // 500
  }
}

function authenticate({ operation: { operationId, security }, verifiers, conclude }: OperationParts): Hook {
  const verify = authenticator(security, verifiers)
  return (request, reply, done) => {
    const context = contextOf(request.raw)
    recordOperation(context, operationId)
    verify(request, (refusal, client, ignored) => {
      recordClient(context, client)
      const concluded = conclude(request, refusal, client, ignored)
      // The connection may have closed while the verifier waited: nothing would tell the next steps.
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
    reply.send(thrown instanceof Error ? thrown : new Error('what was thrown is no error', { cause: thrown }))
  const answer: SendAnswer = (reply, error, outcome) => {
    try {
      if (outcome === undefined) {
        abortStream(reply.request.raw)
        throw error
      }
      send(reply, outcome)?.catch((thrown) => fail(reply, thrown))
    } catch (thrown) {
      endStream(outcome)
      fail(reply, thrown)
    }
  }
  const respond = afterUpload(operation.schema, answer)
  const respondSoon = responseQueue<Parameters<SendAnswer>>((response) => respond(...response))
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const input = inputOf(request)
    const bytes = bodyLength(request.raw)
    // Behind another answer of its connection, a request may wait for long.
    if (bytes >= smallBody) request.body = undefined
    run(memory.during(bytes, handler(input as never)), (error, outcome) => {
      // Until the response is sent, the body stays in memory.
      if (bytes < smallBody) respondSoon([reply, error, outcome])
      else respond(reply, error, outcome)
    })
  }
}
