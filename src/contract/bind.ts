import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler, RouteOptions } from 'fastify'
import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
import { checkBinding } from './check-binding.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  type Located,
  type Parameter,
  type RequestBody,
  type Response,
  type Schema,
} from './document.ts'
import { ownExits } from './exits.ts'
import type { JsonDocument } from './json.ts'
import { acceptJson, expectBody } from './json-body.ts'
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
export async function bind(app: FastifyInstance, { document, handlers, verifiers }: Binding): Promise<void> {
  const all = endpoints(document)
  checkBinding(all, handlers, verifiers)
  acceptJson(app)
  ownExits(app, allowedMethods(all))
  const validation = new Validation(document)
  const bound = new Set<Endpoint>()
  await app.register(fastifyOpenapiGlue, {
    specification: document,
    operationResolver: (_operationId, method, path) => {
      const endpoint = all.find((candidate) => candidate.method === method && candidate.path === path) as Endpoint
      const handler = handlers[endpoint.operationId as string] as AnyHandler
      bound.add(endpoint)
      return { ...route(document, endpoint, validation, verifiers), handler: adapt(endpoint, handler) }
    },
  })
  // Glue passes over an operation with x-no-fastify-config, and over methods that it does not know.
  for (const { operationId } of all.filter((endpoint) => !bound.has(endpoint))) {
    throw new Error(`operation ${operationId} is not served`)
  }
}

/** The schemas that glue hands to Fastify lack what stands beside a $ref: each part is compiled from the document. */
function route(document: Document, endpoint: Endpoint, validation: Validation, verifiers: Verifiers) {
  const { method, path, parameters, requestBody, responses, security } = endpoint
  const authenticate = authenticator(security, verifiers)
  const onRequest: onRequestAsyncHookHandler = async (request, reply) => {
    await authenticate(request)
    if (requestBody !== undefined) expectBody(request, reply, requestBody)
  }
  return {
    method,
    // A colon in a path of OpenAPI is itself; glue would take it for a parameter.
    url: path.replaceAll(':', '::').replace(/\{(\w+)\}/g, ':$1'),
    onRequest,
    exposeHeadRoute: false,
    validatorCompiler: ({ httpPart, contentType }) =>
      httpPart === 'body'
        ? validation.body(requestBody as Located<RequestBody>, contentType as string)
        : validation.parameters(parameters, kinds[httpPart as keyof typeof kinds]),
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

/** OpenAPI's name for each part that Fastify validates. */
const kinds = { params: 'path', querystring: 'query', headers: 'header' } satisfies Record<string, Parameter['in']>

function adapt({ operationId, parameters, responses }: Endpoint, handler: AnyHandler) {
  const names = (kind: Parameter['in']) =>
    parameters.filter((parameter) => parameter.in === kind).map(({ name }) => name)
  const [path, query, header] = [names('path'), names('query'), names('header').map((name) => name.toLowerCase())]
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const body = (request.body as JsonDocument | undefined)?.value
    const outcome = await handler({
      body,
      path: pick(path, request.params),
      query: pick(query, request.query),
      header: pick(header, request.headers),
    } as never)
    const response = responses[outcome.status]
    if (response === undefined) throw new Error(`operation ${operationId} has no response ${outcome.status}`)
    if ((outcome.body === undefined) !== (response.content === undefined)) {
      throw new Error(`operation ${operationId}: response ${outcome.status} has a body if and only if it has content`)
    }
    return reply.code(outcome.status).send(outcome.body)
  }
}

/** Of what a request carries, only what the operation describes. */
const pick = (names: string[], from: unknown) =>
  Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(from as object, name) ? [[name, (from as Parts)[name]]] : [])),
  )

type Parts = Record<string, unknown>

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
