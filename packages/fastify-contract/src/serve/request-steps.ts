import type { RouteShorthandOptionsWithHandler } from 'fastify'
import type { Conclude, Verifiers } from '../auth/verifier.ts'
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
import type { OpenScopes } from '../http/streams.ts'
import { contentNegotiation } from './content-negotiation.ts'
import { mayStream } from './media-types.ts'
import { type AnyHandler, operationHandler, type Run } from './operation-handler.ts'
import { partValidatorCompiler, pathTexts } from './parameters.ts'
import { type BodyBounds, bodySteps, requestBody } from './request-body.ts'
import { responseSerializerCompiler } from './response-serializer.ts'
import type { Operation, Routes } from './routes.ts'
import { authenticator } from './security.ts'
import type { Validator } from './validator.ts'

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
