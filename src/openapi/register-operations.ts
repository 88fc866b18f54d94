import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify'
import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
import { acceptJson, expectBody } from '../http/json-body.ts'
import { exchangeOf } from '../http/request-context.ts'
import { type Exits, ownExits } from '../http/request-guards.ts'
import type { JsonDocument } from '../json/parse-json.ts'
import { checkBinding } from './check-binding.ts'
import { withDiscriminators } from './discriminators.ts'
import { type Document, type Endpoint, endpoints, type Located, type RequestBody } from './document.ts'
import { outline } from './glue-document.ts'
import { parameterReader, routePath } from './parameters.ts'
import { authenticator, type Verifiers } from './security.ts'
import { type Outcome, replySender } from './send-response.ts'
import { asOpenApi31 } from './upgrade-3-0.ts'
import { Validation } from './validator.ts'

/** A handler as the binding sees it; handler-types.ts gives its type for each operation. */
export type AnyHandler = (request: never) => Promise<Outcome>

export type Binding = {
  document: Document
  /** By operationId. */
  handlers: Record<string, AnyHandler>
  /** By the name of the security scheme. */
  verifiers: Verifiers
  /** Runs each handler; may be done, with an error, before that has its outcome. */
  run?: Run | undefined
} & Omit<Exits, 'allowedMethods'>

export type Run = (handle: () => Promise<Outcome>, done: (error: unknown, outcome?: Outcome) => void) => void

/**
 * Binds the operations of a document to handlers on a fresh Fastify instance: each request is routed, authenticated,
 * parsed and validated in that order, and each reply is checked and written by the schema of its response. Nothing else
 * is reachable. Throws, naming each operation, when the document and what is bound to it do not match.
 */
export async function bind(app: FastifyInstance, binding: Binding): Promise<void> {
  const { document: given, handlers, verifiers, run = runAlone, ...exits } = binding
  const document = withDiscriminators(asOpenApi31(given))
  const all = endpoints(document)
  checkBinding(document, all, handlers, verifiers)
  acceptJson(app, [...new Set(all.flatMap(({ requestBody }) => Object.keys(requestBody?.content ?? {})))])
  ownExits(app, { ...exits, allowedMethods: allowedMethods(all) })
  const validation = new Validation(document)
  await app.register(fastifyOpenapiGlue, {
    specification: outline(document, all),
    operationResolver: (operationId, _method, path) => {
      const endpoint = all.find((candidate) => candidate.operationId === operationId) as Endpoint
      return {
        ...route(path, endpoint, validation, verifiers),
        handler: adapt(document, endpoint, validation, handlers[operationId] as AnyHandler, run),
      }
    },
  })
}

/** A request body is compiled from the document: there alone each $ref means what it says. */
function route(path: string, endpoint: Endpoint, validation: Validation, verifiers: Verifiers) {
  const { method, operationId, requestBody, security } = endpoint
  const authenticate = authenticator(security, verifiers)
  const onRequest: onRequestHookHandler = (request, reply, done) => {
    exchangeOf(request.raw).operation = operationId
    authenticate(request, (refusal) => done(refusal ?? (requestBody && expectBody(request, reply, requestBody))))
  }
  return {
    method,
    url: routePath(path),
    onRequest,
    exposeHeadRoute: false,
    validatorCompiler: ({ contentType }) =>
      validation.body(requestBody as Located<RequestBody>, contentType as string) as never,
  } satisfies Omit<RouteOptions, 'handler'>
}

/** The parameters are read and the reply is written here: Fastify knows neither styles nor cookies, nor all of JSON. */
function adapt(document: Document, endpoint: Endpoint, validation: Validation, handler: AnyHandler, run: Run) {
  const read = parameterReader(document, endpoint, validation)
  const send = replySender(document, endpoint, validation)
  const answer = (request: FastifyRequest, reply: FastifyReply, error: unknown, outcome?: Outcome): void => {
    try {
      if (outcome === undefined) throw error
      exchangeOf(request.raw).error = errorNumber(outcome)
      send(reply, outcome)
    } catch (thrown) {
      reply.send(thrown instanceof Error ? thrown : new Error('what was thrown is no error', { cause: thrown }))
    }
  }
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const { path, query, header, cookie } = read(request)
    const given = { body: (request.body as JsonDocument | undefined)?.value, path, query, header, cookie }
    // An answer that is written once all that came is read costs a fifth less than one between two reads.
    run(
      () => handler(given as never),
      (error, outcome) => setImmediate(answer, request, reply, error, outcome),
    )
  }
}

const runAlone: Run = (handle, done) => void handle().then((outcome) => done(undefined, outcome), done)

/** Of an outcome that is an error. */
function errorNumber({ status, body }: Outcome): number | undefined {
  if (status < 400) return undefined
  const { error } = (body ?? {}) as { error?: unknown }
  return typeof error === 'number' ? error : undefined
}

/** The methods of the path that a request target names, in the order of the document. */
function allowedMethods(all: Endpoint[]): (url: string) => string[] {
  const patterns = all.flatMap(({ routes, method }) =>
    routes.map((route) => {
      const literal = route.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      return { method, pattern: new RegExp(`^${literal.join('[^/]+')}$`) }
    }),
  )
  return (url) => {
    const path = decodeURI(url.replace(/[?#].*$/s, ''))
    return patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  }
}
