import type { FastifyInstance, HTTPMethods, RouteOptions } from 'fastify'
import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
import type { CrossOrigin } from '../http/cors.ts'
import { ContractError } from '../http/errors.ts'
import { inOrder, routeError } from '../http/request-guards.ts'
import type { Operation, Routes, ServedOperation, ServedPath } from './contract.ts'

/** Returns the options of an operation's routes, which are the same for each of its paths. */
type OptionsOf = (operation: Operation) => RouteOptions

/**
 * Registers the routes of all operations. Adds routes that respond with 501 for the operations that `generate` skipped,
 * and routes that respond with 405 where Fastify's router would otherwise choose the operation of a more general path.
 */
export async function registerRoutes(app: FastifyInstance, routes: Routes, optionsOf: OptionsOf): Promise<void> {
  const { operations, skipped = [] } = routes
  const headPaths = new Set(operations.flatMap((each) => (each.method === 'HEAD' ? urlsOf(each) : [])))
  const described = [...operations, ...skipped]
  app.addConstraintStrategy(templateConstraint)
  const constraintsAt = templateConstraints(described)
  const optionsAt = (operation: Operation, url: string): RouteOptions => ({
    ...constraintsAt(url),
    // Fastify adds HEAD for each GET, unless the document has a HEAD operation (RFC 9110 section 9.3.2).
    exposeHeadRoute: !headPaths.has(url),
    ...optionsOf(operation),
  })
  await registerByGlue(app, routes, optionsAt)
  registerAdditional(app, operations, optionsAt)
  const unsupported = inOrder([() => new ContractError('notImplemented', 'this operation is not supported')])
  for (const { method, servedPaths } of skipped) {
    for (const { url } of servedPaths)
      app.route({
        ...constraintsAt(url),
        method,
        url,
        exposeHeadRoute: false,
        onRequest: unsupported,
        handler: unsupported as never,
      })
  }
  const missing = inOrder([routeError(methodFinder(described))])
  for (const route of missingMethods(described)) {
    app.route({ ...constraintsAt(route.url), ...route, onRequest: missing, handler: missing as never })
  }
}

/**
 * A constraint of Fastify's router. The router compares the text beside a parameter, such as that of `{id}:cancel`, with
 * the decoded segment, but an encoded delimiter is data (RFC 3986 section 2.2): `5%3Acancel` is a value of `{id}`.
 */
const templateConstraint: Parameters<FastifyInstance['addConstraintStrategy']>[0] = {
  name: 'template',
  // The router creates a storage for each of its nodes. All routes of a node have the same pattern.
  storage() {
    let pattern: RegExp | undefined
    let routes: never
    return {
      get: (target) => (pattern?.test(decodedPath(String(target))) ? routes : null),
      set: (template, stored) => {
        pattern = new RegExp(String(template))
        routes = stored as never
      },
    }
  },
  deriveConstraint: ({ url }) => url,
}

/** Returns a function that returns the constraints of the routes at a URL of the router. */
function templateConstraints(operations: ServedOperation[]): (url: string) => { constraints?: { template: string } } {
  const mixed = operations.flatMap(({ servedPaths }) => servedPaths).filter(({ path }) => /[^/]\{|\}[^/]/.test(path))
  const patterns = new Map(mixed.map(({ url, pattern }) => [url, pattern]))
  return (url) => {
    const template = patterns.get(url)
    return template === undefined ? {} : { constraints: { template } }
  }
}

/** Returns the path of a request target in which delimiters are still encoded. */
const decodedPath = (target: string): string => decodeURI(target.replace(/[?#].*$/s, ''))

const urlsOf = ({ servedPaths }: Operation) => servedPaths.map(({ url }) => url)

type OptionsAt = (operation: Operation, url: string) => RouteOptions

/**
 * Lets fastify-openapi-glue register its operations on the app itself. Glue would register them on an instance of their
 * own, to which the hooks that are added to the app later do not apply.
 */
async function registerByGlue(app: FastifyInstance, routes: Routes, optionsAt: OptionsAt): Promise<void> {
  const byId = new Map(routes.operations.map((operation) => [operation.operationId, operation]))
  const flat = Object.create(app, { register: { value: (plugin: (app: FastifyInstance) => unknown) => plugin(app) } })
  await fastifyOpenapiGlue(flat, {
    specification: glueDocument(routes),
    operationResolver: (operationId, _method, url) => optionsAt(byId.get(operationId) as Operation, url),
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
function registerAdditional(app: FastifyInstance, operations: Operation[], optionsAt: OptionsAt): void {
  for (const operation of operations.filter(isAdditional)) {
    const method = String(operation.method)
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true })
    for (const { url } of operation.servedPaths) app.route({ ...optionsAt(operation, url), method, url })
  }
}

/** A path of the document with all methods that are served there. */
type Path = { url: string; pattern: RegExp; sample: string; methods: HTTPMethods[] }

/** Returns the paths of the operations, in the order of the document. */
function pathsOf(operations: ServedOperation[]): Path[] {
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

/** Returns a path with values that no literal path has: a request with U+0000 is rejected. */
const sampleOf = (path: ServedPath['path']): string => path.replace(/\{[^}]*\}/g, '\0')

/** Returns whether all requests of a path match another, more general path, too. */
const isWithin = (path: Path, general: Path): boolean => path !== general && general.pattern.test(path.sample)

/**
 * Returns a function that lists the methods of a request target's path, in the order of the document. A concrete path
 * is matched before a templated one (OpenAPI 3.1 section 4.8.8.1), so only the methods of the most concrete path count.
 */
export function methodFinder(operations: ServedOperation[]): (url: string) => string[] {
  const paths = pathsOf(operations)
  return (url) => {
    const path = decodedPath(url)
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
  operations: ServedOperation[],
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

/** Request headers that clients may send to any operation. */
const commonHeaders = ['Authorization', 'Content-Type', 'Traceparent', 'Tracestate', 'X-Request-Id']

/** Response headers of errors, which operations need not declare. */
const errorHeaders = ['Accept', 'Allow', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id']

/**
 * Returns the methods and headers of all operations. Pages of other origins may use them on every path, so that they
 * can read the 404 or 405 of a wrong request. `readableHeaders` are further response headers that they may read.
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
