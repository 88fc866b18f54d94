import type { FastifyInstance, RouteOptions } from 'fastify'
import { fastifyOpenapiGlue } from 'fastify-openapi-glue'
import type { Operation, Routes, ServedOperation } from '../contract/routes.ts'
import type { CrossOrigin } from '../http/cors.ts'
import { ContractError } from '../http/errors.ts'
import { type Guard, inOrder, routeError } from '../http/request-guards.ts'
import { decodedPath, methodFinder, missingMethods, routeUrl, unselectedMethods, withoutMark } from './served-paths.ts'

/** Returns the options of an operation's routes, which are the same for each of its paths. */
type OptionsOf = (operation: Operation) => RouteOptions

/**
 * Registers the routes of all operations. Adds routes that respond with 501 for the operations that `generate` skipped,
 * with 405 where Fastify's router would otherwise choose the operation of a more general path, and with 400 where the
 * parameters of a request select none of the operations of a path.
 */
export async function registerRoutes(app: FastifyInstance, routes: Routes, optionsOf: OptionsOf): Promise<void> {
  const { operations, skipped = [] } = routes
  const described = [...operations, ...skipped]
  for (const { method } of described) {
    if (!app.supportedMethods.includes(String(method))) app.addHttpMethod(String(method), { hasBody: true })
  }
  app.addConstraintStrategy(templateConstraint)
  const constraintsAt = templateConstraints(described)
  const hasOwnHead = headFinder(described)
  const optionsAt = (operation: Operation, url: string): RouteOptions => ({
    ...constraintsAt(url),
    // Fastify adds HEAD for each GET, unless the document has a HEAD operation (RFC 9110 section 9.3.2).
    exposeHeadRoute: !hasOwnHead(url),
    ...optionsOf(operation),
  })
  await registerByGlue(app, routes, optionsAt)
  registerAdditional(app, operations, optionsAt)
  const unsupported = rejecting(() => new ContractError('notImplemented', 'this operation is not supported'))
  for (const { method, servedPaths, selectors } of skipped) {
    for (const path of servedPaths) {
      const url = routeUrl(path, selectors)
      app.route({ ...constraintsAt(url), method, url, ...unsupported, exposeHeadRoute: !hasOwnHead(url) })
    }
  }
  for (const { url, method, parameters } of unselectedMethods(described)) {
    const message = `${parameters.join(' and ')} must have values that select an operation of this path`
    const isOfBody = parameters.join() === 'header/Content-Type'
    const unselected = rejecting(() => new ContractError(isOfBody ? 'unsupportedMediaType' : 'invalid', message))
    app.route({ ...constraintsAt(url), method, url, ...unselected })
  }
  const missing = rejecting(routeError(methodFinder(described)))
  for (const route of missingMethods(described)) {
    app.route({ ...constraintsAt(route.url), ...route, ...missing })
  }
}

/** Returns the options of a route that rejects every request with the error of a guard. */
function rejecting(guard: Guard): Pick<RouteOptions, 'exposeHeadRoute' | 'onRequest' | 'handler'> {
  const onRequest = inOrder([guard])
  // Fastify requires a handler, but the hook has already responded.
  return { exposeHeadRoute: false, onRequest, handler: onRequest as never }
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
  deriveConstraint: ({ url }) => withoutMark(String(url)),
}

/** Returns a function that returns the constraints of the routes at a URL of the router. */
function templateConstraints(operations: ServedOperation[]): (url: string) => { constraints?: { template: string } } {
  const mixed = operations.flatMap(({ servedPaths }) => servedPaths).filter(({ path }) => /[^/]\{|\}[^/]/.test(path))
  const patterns = new Map(mixed.map(({ url, pattern }) => [url, pattern]))
  return (url) => {
    const template = patterns.get(withoutMark(url))
    return template === undefined ? {} : { constraints: { template } }
  }
}

/**
 * Returns a function that returns whether the path of a URL of the router has a HEAD operation. Paths that differ only in
 * the names of their parameters are the same path.
 */
function headFinder(operations: ServedOperation[]): (url: string) => boolean {
  const paths = operations.flatMap(({ method, servedPaths }) => servedPaths.map((path) => ({ ...path, method })))
  const patterns = new Map(paths.map(({ url, pattern }) => [url, pattern]))
  const withHead = new Set(paths.filter(({ method }) => method === 'HEAD').map(({ pattern }) => pattern))
  return (url) => withHead.has(patterns.get(withoutMark(url)) as string)
}

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
  for (const { servedPaths, method, operationId, schema, selectors } of operations.filter(
    (one) => !isAdditional(one),
  )) {
    const responses = Object.fromEntries(Object.keys(schema.response).map((status) => [status, { description: '' }]))
    const operation = { [String(method).toLowerCase()]: { operationId, responses } }
    for (const path of servedPaths) {
      const url = routeUrl(path, selectors)
      paths[url] = { ...paths[url], ...operation }
    }
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
    for (const path of operation.servedPaths) {
      const url = routeUrl(path, operation.selectors)
      app.route({ ...optionsAt(operation, url), method: operation.method, url })
    }
  }
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
