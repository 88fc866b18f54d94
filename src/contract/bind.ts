import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler, RouteOptions } from 'fastify'
import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
import { checkBinding } from './check-binding.ts'
import { type Document, type Endpoint, endpoints, type Parameter } from './document.ts'
import { ownExits } from './exits.ts'
import type { JsonDocument } from './json.ts'
import { acceptJson, inviteBody, unsupportedBody } from './json-body.ts'
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
  await app.register(fastifyOpenapiGlue, {
    specification: document,
    operationResolver: (_operationId, method, path) => {
      const endpoint = all.find((candidate) => candidate.method === method && candidate.path === path) as Endpoint
      const handler = handlers[endpoint.operation.operationId as string] as AnyHandler
      return { ...route(document, endpoint, validation, verifiers), handler: adapt(endpoint, handler) }
    },
  })
}

/** The schemas that glue hands to Fastify lack what stands beside a $ref: each part is compiled from the document. */
function route(document: Document, endpoint: Endpoint, validation: Validation, verifiers: Verifiers) {
  const { requestBody, responses } = endpoint.operation
  const authenticate = authenticator(endpoint.security, verifiers)
  const accepted = Object.keys(requestBody?.content ?? {})
  const onRequest: onRequestAsyncHookHandler = async (request, reply) => {
    await authenticate(request)
    const unsupported = requestBody && unsupportedBody(request, accepted, requestBody.required ?? false)
    if (unsupported !== undefined) throw unsupported
    if (requestBody !== undefined) inviteBody(request, reply)
  }
  return {
    method: endpoint.method,
    // A colon in a path of OpenAPI is itself; glue would take it for a parameter.
    url: endpoint.path.replaceAll(':', '::').replace(/\{(\w+)\}/g, ':$1'),
    onRequest,
    exposeHeadRoute: false,
    validatorCompiler: ({ httpPart, contentType }) =>
      httpPart === 'body'
        ? validation.body(endpoint, contentType as string)
        : validation.parameters(endpoint, kinds[httpPart as keyof typeof kinds]),
    serializerCompiler: ({ httpStatus = '', contentType = '' }) => {
      // Fastify asks in lower case; the document may say 4XX.
      const status = Object.keys(responses ?? {}).find((key) => key.toLowerCase() === httpStatus) as string
      const assertValid = validation.response(endpoint, status, contentType)
      const serialize = serializer(document, responses?.[status]?.content?.[contentType]?.schema ?? true)
      return (value: unknown) => {
        assertValid(value)
        return serialize(value)
      }
    },
  } satisfies Omit<RouteOptions, 'handler'>
}

/** OpenAPI's name for each part that Fastify validates. */
const kinds = { params: 'path', querystring: 'query', headers: 'header' } satisfies Record<string, Parameter['in']>

function adapt({ operation, parameters }: Endpoint, handler: AnyHandler) {
  const { operationId, responses = {} } = operation
  const headers = parameters.filter(({ in: place }) => place === 'header').map(({ name }) => name.toLowerCase())
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const body = (request.body as JsonDocument | undefined)?.value
    const header = Object.fromEntries(headers.map((name) => [name, request.headers[name]]))
    const outcome = await handler({ body, path: request.params, query: request.query, header } as never)
    const response = responses[outcome.status]
    if (response === undefined) throw new Error(`operation ${operationId} has no response ${outcome.status}`)
    if ((outcome.body === undefined) !== (response.content === undefined)) {
      throw new Error(`operation ${operationId}: response ${outcome.status} has a body if and only if it has content`)
    }
    return reply.code(outcome.status).send(outcome.body)
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
