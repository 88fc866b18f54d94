import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler, RouteOptions } from 'fastify'
import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
import { checkBinding } from './check-binding.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  type Located,
  type RequestBody,
  type Response,
  type Schema,
} from './document.ts'
import { ownExits } from './exits.ts'
import type { JsonDocument } from './json.ts'
import { acceptJson, expectBody } from './json-body.ts'
import { asOpenApi31 } from './openapi-3-0.ts'
import { parameterReader, routePath } from './parameters.ts'
import { authenticator, type Verifiers } from './security.ts'
import { serializer } from './serialization.ts'
import { Validation } from './validation.ts'

/** A handler as the binding sees it; contract/operations.ts gives its type for each operation. */
export type AnyHandler = (request: never) => Promise<{ status: number; body: unknown }>

export type Binding = {
  document: Document
  /** By operationId. */
  handlers: Record<string, AnyHandler>
  /** By the name of the security scheme. */
  verifiers: Verifiers
}

/**
 * Binds the operations of a document to handlers on a fresh Fastify instance: each request is routed, authenticated,
 * parsed and validated in that order, and each reply is checked and written by the schema of its response. Nothing else
 * is reachable. Throws, naming each operation, when the document and what is bound to it do not match.
 */
export async function bind(app: FastifyInstance, { document: given, handlers, verifiers }: Binding): Promise<void> {
  const document = asOpenApi31(given)
  const all = endpoints(document)
  checkBinding(document, all, handlers, verifiers)
  acceptJson(app, [...new Set(all.flatMap(({ requestBody }) => Object.keys(requestBody?.content ?? {})))])
  ownExits(app, allowedMethods(all))
  const validation = new Validation(document)
  const bound = new Set<Endpoint>()
  await app.register(fastifyOpenapiGlue, {
    specification: given,
    operationResolver: (_operationId, method, path) => {
      const endpoint = all.find((candidate) => candidate.method === method && candidate.path === path) as Endpoint
      const handler = handlers[endpoint.operationId as string] as AnyHandler
      bound.add(endpoint)
      const read = parameterReader(document, endpoint, validation)
      return { ...route(document, endpoint, validation, verifiers), handler: adapt(endpoint, read, handler) }
    },
  })
  // Glue passes over an operation with x-no-fastify-config, and over methods that it does not know.
  for (const { operationId } of all.filter((endpoint) => !bound.has(endpoint))) {
    throw new Error(`operation ${operationId} is not served`)
  }
}

/** The schemas that glue hands to Fastify lack what stands beside a $ref: each part is compiled from the document. */
function route(document: Document, endpoint: Endpoint, validation: Validation, verifiers: Verifiers) {
  const { method, path, requestBody, responses, security } = endpoint
  const authenticate = authenticator(security, verifiers)
  const onRequest: onRequestAsyncHookHandler = async (request, reply) => {
    await authenticate(request)
    if (requestBody !== undefined) expectBody(request, reply, requestBody)
  }
  return {
    method,
    url: routePath(path),
    onRequest,
    exposeHeadRoute: false,
    validatorCompiler: ({ httpPart, contentType }) =>
      // The parameters are read with the handler: Fastify knows neither their styles nor cookies.
      httpPart === 'body' ? validation.body(requestBody as Located<RequestBody>, contentType as string) : () => true,
    serializerCompiler: ({ httpStatus, contentType }) => {
      // Fastify asks in lower case; the document may say 4XX.
      const [, response] = Object.entries(responses).find(([status]) => status.toLowerCase() === httpStatus) as Listed
      const assertValid = validation.response(response, contentType as string)
      const serialize = serializer(document, response.content?.[contentType as string]?.schema as Schema)
      return (value: unknown) => {
        assertValid(value)
        return serialize(value)
      }
    },
  } satisfies Omit<RouteOptions, 'handler'>
}

type Listed = [status: string, response: Located<Response>]

function adapt({ operationId, responses }: Endpoint, read: ReturnType<typeof parameterReader>, handler: AnyHandler) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const body = (request.body as JsonDocument | undefined)?.value
    const outcome = await handler({ body, ...read(request) } as never)
    const { status } = outcome
    const response = responses[status] ?? responses[`${Math.trunc(status / 100)}XX`] ?? responses.default
    if (response === undefined) throw new Error(`operation ${operationId} has no response ${status}`)
    if ((outcome.body === undefined) !== (response.content === undefined)) {
      throw new Error(`operation ${operationId}: response ${status} has a body if and only if it has content`)
    }
    const [mediaType] = Object.keys(response.content ?? {})
    if (mediaType !== undefined) reply.type(mediaType)
    return reply.code(status).send(outcome.body)
  }
}

/** The methods of the path that a request target names, in the order of the document. */
function allowedMethods(all: Endpoint[]): (url: string) => string[] {
  const patterns = all.map(({ path, method }) => {
    const literal = path.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    return { method, pattern: new RegExp(`^${literal.join('[^/]+')}$`) }
  })
  return (url) => {
    const path = decodeURI(url.replace(/[?#].*$/s, ''))
    return patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  }
}
