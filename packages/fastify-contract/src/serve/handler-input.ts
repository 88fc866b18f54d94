import type { FastifyRequest } from 'fastify'
import { parseCookies } from '../http/query-string.ts'
import { contextOf } from '../http/request-context.ts'
import { streamScope } from '../http/stream-scope.ts'
import { negotiation } from './content-negotiation.ts'
import { mayStream } from './media-types.ts'
import { parametersValidator } from './parameter-validator.ts'
import type { RequestBody } from './request-body.ts'
import { mayReadBody } from './request-media.ts'
import type { Operation } from './routes.ts'
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
