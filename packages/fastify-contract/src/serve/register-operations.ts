import { maxHeaderSize } from 'node:http'
import type { FastifyInstance, HTTPMethods, RouteOptions } from 'fastify'
import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
import { type Conclude, createVerifiers, type VerifierContext, type VerifierFactory } from '../auth/verifiers.ts'
import { type Tracking, trackConnections } from '../http/connections.ts'
import { allowOrigins, type CrossOrigin } from '../http/cors.ts'
import { errorSender } from '../http/error-responses.ts'
import type { BodyMemory } from '../http/read-body.ts'
import { type Admit, inOrder, routeError, takeOverFromNode } from '../http/request-guards.ts'
import { openStreamScopes } from '../http/streams.ts'
import type { UploadLimits } from '../http/upload.ts'
import type { Operation, Routes, ServedPath } from './contract.ts'
import { type AnyErrorBody, errorWriter } from './error-writer.ts'
import { acceptBodies } from './request-body.ts'
import { type AnyHandler, type Run, stepsOfEveryRequest, stepsOfOperation } from './request-steps.ts'
import { createValidator } from './validator.ts'

/** What registerOperations binds to the operations of a document. */
export type Binding = Tracking & {
  routes: Routes
  /** By operationId. */
  handlers: Record<string, AnyHandler>
  /** By the name of the security scheme. */
  verifiers: Record<string, VerifierFactory>
  /** The realm of the challenges; default: the title of the document. */
  realm?: string | undefined
  /** See VerifierContext; default: no limit. */
  withinFailureLimit?: VerifierContext['withinFailureLimit'] | undefined
  /** Creates the bodies of error responses. */
  errorBody: AnyErrorBody
  /** Makes the final decision on each request after authentication, such as rate limits; default: no limit. */
  conclude?: Conclude | undefined
  /** Runs the handlers, for example with a timeout; default: no timeout. */
  run?: Run | undefined
  /** Rejects requests under overload; default: none. */
  admit?: Admit | undefined
  /** The memory budget that all request bodies share; default: no limit. */
  memory?: BodyMemory | undefined
  /** Default: 64 MiB, and 1,000 fields in a form. */
  uploads?: UploadLimits | undefined
  /** Origins whose pages may call the operations; default: none. */
  origins?: string[] | undefined
  /** Returns the origins of the service's own pages, which may call the operations, too; default: none. */
  ownOrigins?: (() => string[]) | undefined
  /** Response headers that these pages may read, besides those of the document and of errors. */
  readableHeaders?: string[] | undefined
  /** Registers the plugins whose onRoute hooks must see the operations. */
  plugins?: ((app: FastifyInstance) => void) | undefined
}

/**
 * Binds the operations to their handlers on a new Fastify instance, which registers them when it loads its plugins. Each
 * request passes the steps of request-steps.ts. Throws an error that lists every operation without a handler or
 * verifier, and every surplus handler.
 */
export function registerOperations(app: FastifyInstance, binding: Binding): void {
  const { routes, handlers, errorBody, admit = () => undefined, origins = [], ownOrigins, plugins, ...rest } = binding
  const { observer, draining, linger, headersLimit = maxHeaderSize } = rest
  const { operations, schemas } = routes
  checkBinding(operations, handlers, rest.verifiers)
  const writeError = errorWriter(errorBody, routes.errorNumbers, (err) => app.log.error({ err }, 'errorBody failed'))
  app.setErrorHandler(errorSender(writeError))
  const isSameOriginOnly = origins.length === 0 && ownOrigins === undefined
  const preflight = isSameOriginOnly
    ? undefined
    : allowOrigins(app, { origins, ownOrigins, ...crossOriginNames(routes, rest.readableHeaders) })
  const allowedMethods = methodFinder(operations)
  for (const step of stepsOfEveryRequest({ admit, allowedMethods, headersLimit, preflight })) {
    app.addHook('onRequest', step)
  }
  takeOverFromNode(app)
  // Registered before trackConnections, so that shutdown ends streams before it waits for their connections.
  const openStreams = openStreamScopes(app)
  trackConnections(app, writeError, { observer, draining, headersLimit, linger })
  const { uploads = { bytes: 67_108_864, fields: 1_000 }, memory = unbounded } = rest
  const bounds = { body: app.initialConfig.bodyLimit as number, headers: headersLimit, uploads, memory }
  acceptBodies(app, operations, bounds)
  for (const [name, schema] of Object.entries(schemas)) app.addSchema({ ...(schema as object), $id: name })
  plugins?.(app)
  app.after(async () => {
    const { realm = routes.info.title.replace(/[^ -~]/g, '?'), withinFailureLimit = () => true } = rest
    const verifiers = await createVerifiers(rest.verifiers, { app, realm, withinFailureLimit })
    const { conclude = unlimited, run = runAlone } = rest
    const shared = { schemas, validator: createValidator(schemas), verifiers, conclude, openStreams, run, bounds }
    const headPaths = new Set(operations.flatMap((each) => (each.method === 'HEAD' ? urlsOf(each) : [])))
    const optionsOf = (operation: Operation, url: string): RouteOptions => {
      const { operationId, security, schema } = operation
      return {
        schema: { operationId, security, ...schema },
        // Fastify adds HEAD for each GET, unless the document has a HEAD operation (RFC 9110 section 9.3.2).
        exposeHeadRoute: !headPaths.has(url),
        ...stepsOfOperation({ ...shared, operation, handler: handlers[operationId] as AnyHandler }),
      } as RouteOptions
    }
    await registerByGlue(app, routes, optionsOf)
    registerAdditional(app, operations, optionsOf)
    const missing = inOrder([routeError(allowedMethods)])
    for (const route of missingMethods(operations))
      app.route({ ...route, onRequest: missing, handler: missing as never })
  })
}

const urlsOf = ({ servedPaths }: Operation) => servedPaths.map(({ url }) => url)

const unbounded: BodyMemory = {
  take: () => undefined,
  release() {},
  admit: () => undefined,
  during: (_bytes, outcome) => outcome,
}

const unlimited: Conclude = (_request, refusal) => refusal

const runAlone: Run = (outcome, done) => void outcome.then((outcome) => done(undefined, outcome), done)

/**
 * Throws one error that lists every operation without a handler, security scheme without a verifier, and handler
 * without an operation. Otherwise requests would get a 500 or skip authentication, or a handler would never be called.
 */
function checkBinding(operations: Operation[], handlers: object, verifiers: object): void {
  const problems: string[] = []
  const ids = new Set(operations.map(({ operationId }) => operationId))
  for (const { operationId, security } of operations) {
    const name = `operation ${operationId}`
    if (!Object.hasOwn(handlers, operationId)) problems.push(`${name} has no handler; add one to \`handlers\``)
    for (const scheme of security.flatMap((requirement) => Object.keys(requirement))) {
      if (!Object.hasOwn(verifiers, scheme))
        problems.push(`${name}: security scheme ${scheme} has no verifier; add one to \`verifiers\``)
    }
  }
  for (const id of Object.keys(handlers)) {
    if (!ids.has(id))
      problems.push(`handler ${id} has no operation in the document; remove it, or describe its operation`)
  }
  if (problems.length > 0) throw new Error(['the document and its handlers do not match', ...problems].join('\n  '))
}

/** Request headers that clients may send to any operation. */
const commonHeaders = ['Authorization', 'Content-Type', 'Traceparent', 'Tracestate', 'X-Request-Id']

/** Response headers of errors, which operations need not declare. */
const errorHeaders = ['Accept', 'Allow', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id']

/**
 * Returns the methods and headers of all operations. Pages of other origins may use them on every path, so that they
 * can read the 404 or 405 of a wrong request.
 */
export function crossOriginNames(
  { operations, apiKeyHeaders = [] }: Pick<Routes, 'operations' | 'apiKeyHeaders'>,
  readableHeaders: string[] = [],
): Omit<CrossOrigin, 'origins' | 'ownOrigins'> {
  const parameters = operations.flatMap((operation) => operation.parameters).filter((one) => one.in === 'header')
  const responses = operations.flatMap(({ schema }) => Object.values(schema.response))
  const declared = [
    ...responses.map(({ headers = {} }) => headers),
    ...operations.map(({ deprecation = {} }) => deprecation),
  ]
  return {
    methods: distinct(operations.map(({ method }) => String(method))),
    requestHeaders: distinct([...commonHeaders, ...apiKeyHeaders, ...parameters.map(({ name }) => name)]),
    responseHeaders: distinct([...errorHeaders, ...readableHeaders, ...declared.flatMap(Object.keys)]),
  }
}

/** Returns names in alphabetical order, without duplicates regardless of case. */
const distinct = (names: string[]): string[] =>
  names.filter((name, index) => names.findIndex((one) => one.toLowerCase() === name.toLowerCase()) === index).sort()

type OptionsOf = (operation: Operation, url: string) => RouteOptions

/**
 * Lets fastify-openapi-glue register its operations on the app itself. Glue would register them on an instance of their
 * own, to which the hooks that are added to the app later do not apply.
 */
async function registerByGlue(app: FastifyInstance, routes: Routes, optionsOf: OptionsOf): Promise<void> {
  const byId = new Map(routes.operations.map((operation) => [operation.operationId, operation]))
  const flat = Object.create(app, { register: { value: (plugin: (app: FastifyInstance) => unknown) => plugin(app) } })
  await fastifyOpenapiGlue(flat, {
    specification: glueDocument(routes),
    operationResolver: (operationId, _method, url) => optionsOf(byId.get(operationId) as Operation, url),
  })
}

/**
 * Returns the document from which fastify-openapi-glue registers routes: the operations, with paths in Fastify's
 * syntax. It has no schemas, since glue would copy each shared schema into every place that refers to it; they reach
 * Fastify in the route options.
 */
function glueDocument({ info, operations }: Routes) {
  const paths: Record<string, Record<string, object>> = {}
  for (const { servedPaths, method, operationId, schema } of operations.filter((one) => !isAdditional(one))) {
    const responses = Object.fromEntries(Object.keys(schema.response).map((status) => [status, { description: '' }]))
    const operation = { [String(method).toLowerCase()]: { operationId, responses } }
    for (const { url } of servedPaths) paths[url] = { ...paths[url], ...operation }
  }
  return { openapi: '3.1.0', info, paths }
}

/** The HTTP methods that fastify-openapi-glue registers. */
const glueMethods = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH']

/** Returns whether OpenAPI 3.2 added the method of an operation, such as QUERY or COPY. */
const isAdditional = ({ method }: Operation): boolean => !glueMethods.includes(String(method))

/** Registers the operations with additional methods; fastify-openapi-glue registers all others. */
function registerAdditional(app: FastifyInstance, operations: Operation[], optionsOf: OptionsOf): void {
  for (const operation of operations.filter(isAdditional)) {
    const method = String(operation.method)
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true })
    for (const { url } of operation.servedPaths) app.route({ ...optionsOf(operation, url), method, url })
  }
}

/** A path of the document with all methods that are served there. */
type Path = { url: string; pattern: RegExp; sample: string; methods: HTTPMethods[] }

/** Returns the paths of the operations, in the order of the document. */
function pathsOf(operations: Operation[]): Path[] {
  const paths = new Map<string, Path>()
  for (const { servedPaths, method } of operations) {
    for (const { url, pattern, path } of servedPaths) {
      if (!paths.has(pattern))
        paths.set(pattern, { url, pattern: new RegExp(pattern), sample: sampleOf(path), methods: [] })
      paths.get(pattern)?.methods.push(method)
    }
  }
  return [...paths.values()]
}

/** Returns a path with values that no literal path has: U+0000 is refused in requests. */
const sampleOf = (path: ServedPath['path']): string => path.replace(/\{[^}]*\}/g, '\0')

/** Returns whether all requests of a path match another, more general path, too. */
const isWithin = (path: Path, general: Path): boolean => path !== general && general.pattern.test(path.sample)

/**
 * Returns a function that lists the methods of a request target's path, in the order of the document. A concrete path
 * is matched before a templated one (OpenAPI 3.1 section 4.8.8.1), so only the methods of the most concrete path count.
 */
export function methodFinder(operations: Operation[]): (url: string) => string[] {
  const paths = pathsOf(operations)
  return (url) => {
    const path = decodeURI(url.replace(/[?#].*$/s, ''))
    const matching = paths.filter(({ pattern }) => pattern.test(path))
    const concrete = matching.filter((each) => !matching.some((other) => isWithin(other, each)))
    return withHead(concrete.flatMap((each) => each.methods))
  }
}

/** Adds HEAD, which Fastify serves for each GET (RFC 9110 section 9.3.2). */
const withHead = (methods: HTTPMethods[]): HTTPMethods[] =>
  methods.includes('HEAD') ? methods : methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : each))

/** A parameter never contains a slash, so only paths with as many segments can match the same requests. */
const segmentsOf = ({ sample }: Path): number => sample.split('/').length

/**
 * Returns the methods that a path does not have, but a more general path does: Fastify's router would serve a request
 * for the concrete path with the operation of the general one.
 */
export function missingMethods(
  operations: Operation[],
): { url: string; method: HTTPMethods[]; exposeHeadRoute: false }[] {
  const paths = pathsOf(operations)
  const templated = new Map<number, Path[]>()
  for (const path of paths.filter(({ sample }) => sample.includes('\0'))) {
    templated.set(segmentsOf(path), [...(templated.get(segmentsOf(path)) ?? []), path])
  }
  return paths.flatMap((path) => {
    const general = (templated.get(segmentsOf(path)) ?? []).filter((other) => isWithin(path, other))
    const own = new Set(withHead(path.methods))
    const method = [...new Set(general.flatMap(({ methods }) => withHead(methods)))].filter((each) => !own.has(each))
    return method.length === 0 ? [] : [{ url: path.url, method, exposeHeadRoute: false as const }]
  })
}
