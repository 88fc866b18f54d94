import type { FastifyInstance, RouteOptions } from 'fastify'
import { ContractError } from '../contract/errors.ts'
import type { Operation, PreconditionRules, Routes, ServedOperation } from '../contract/routes.ts'
import type { CrossOrigin } from '../http/cors.ts'
import { type Guard, inOrder, routeError } from '../http/request-guards.ts'
import { hasKeys } from '../idempotency/keyed-operation.ts'
import {
  decodedPath,
  methodFinder,
  missingMethods,
  prefixPattern,
  routeUrl,
  unselectedMethods,
  withoutMark,
} from './served-paths.ts'

/** Returns the options of an operation's routes. */
export type OptionsOf = (operation: Operation) => RouteOptions

/**
 * Lets the router of an app serve the methods and the paths of operations. `unmark` removes the segment that selects an
 * operation from the targets of requests.
 */
export function prepareRouter(app: FastifyInstance, operations: ServedOperation[], unmark = withoutMark): void {
  for (const { method } of operations) {
    if (!app.supportedMethods.includes(String(method))) app.addHttpMethod(String(method), { hasBody: true })
  }
  // The router is that of the whole app, in which other contracts may be served, too.
  if (!app.hasConstraintStrategy(constraintName)) app.addConstraintStrategy(templateConstraint(unmark))
}

/**
 * Returns a function that returns the options of a route that depend on its URL of the router. `prefix` is that of the
 * instance on which the route is registered.
 */
export function pathOptions(
  operations: ServedOperation[],
  prefix: string,
): (url: string) => Pick<RouteOptions, 'constraints' | 'exposeHeadRoute'> {
  const constraintsAt = pathConstraints(operations, prefix)
  const hasOwnHead = headFinder(operations)
  // Fastify adds HEAD for each GET, unless the document has a HEAD operation (RFC 9110 section 9.3.2).
  return (url) => ({ ...constraintsAt(url), exposeHeadRoute: !hasOwnHead(url) })
}

/** The operations of a document, those that are not supported included. */
export const describedOperations = ({ operations, skipped = [] }: Routes): ServedOperation[] => [
  ...operations,
  ...skipped,
]

/** Returns the key of a route among those that another plugin registers. */
export const routeKey = (method: string, url: string): string => `${method} ${url}`

/**
 * Registers the routes of all operations, except those that another plugin has `registered`, by their keys. Adds routes
 * that respond with 501 for the operations that `generate` skipped, with 405 where Fastify's router would otherwise
 * choose the operation of a more general path, and with 400 where the parameters of a request select none of the
 * operations of a path.
 */
export function registerRoutes(
  app: FastifyInstance,
  routes: Routes,
  optionsOf: OptionsOf,
  registered: ReadonlySet<string>,
): void {
  const described = describedOperations(routes)
  const optionsAt = pathOptions(described, app.prefix)
  for (const operation of described) {
    const { method, servedPaths, selectors } = operation
    for (const path of servedPaths) {
      const url = routeUrl(path, selectors)
      if (registered.has(routeKey(method, url))) continue
      app.route({ ...atSlash, ...operationOptions(operation, optionsOf), ...optionsAt(url), method, url })
    }
  }
  for (const { url, method, parameters } of unselectedMethods(described)) {
    const message = `${parameters.join(' and ')} must have values that select an operation of this path`
    const isOfBody = parameters.join() === 'header/Content-Type'
    const unselected = rejecting(() => new ContractError(isOfBody ? 'unsupportedMediaType' : 'invalid', message))
    app.route({ ...atSlash, ...optionsAt(url), method, url, ...unselected })
  }
  const missing = rejecting(routeError(methodFinder(described, app.prefix)))
  for (const route of missingMethods(described))
    app.route({ ...atSlash, ...optionsAt(route.url), ...route, ...missing })
}

/** Fastify would also serve the path `/` of an instance with a prefix without the slash, which is another path. */
const atSlash = { prefixTrailingSlash: 'slash' } as const

/** Returns the options of the routes of an operation; those of one that `generate` skipped respond with 501. */
export const operationOptions = (operation: Operation | ServedOperation, optionsOf: OptionsOf) =>
  'operationId' in operation ? optionsOf(operation) : unsupported

/** Returns the options of a route that rejects every request with the error of a guard. */
export function rejecting(guard: Guard): Pick<RouteOptions, 'exposeHeadRoute' | 'onRequest' | 'handler'> {
  const onRequest = inOrder([guard])
  // Fastify requires a handler, but the hook has already responded.
  return { exposeHeadRoute: false, onRequest, handler: onRequest as never }
}

/** Lets an instance with a prefix of its own reject the requests below the prefix that have no route. */
export function rejectUnknownPaths(instance: FastifyInstance, allowedMethods: (url: string) => string[]): void {
  instance.setNotFoundHandler(rejecting(routeError(allowedMethods)).handler)
}

const unsupported = rejecting(() => new ContractError('notImplemented', 'this operation is not supported'))

const constraintName = 'contractPath'

/**
 * Returns a constraint of Fastify's router. The router compares the text beside a parameter, such as that of
 * `{id}:cancel`, with the decoded segment, but an encoded delimiter is data (RFC 3986 section 2.2): `5%3Acancel` is a
 * value of `{id}`.
 */
const templateConstraint = (unmark: (url: string) => string): ConstraintStrategy => ({
  name: constraintName,
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
  deriveConstraint: ({ url }) => unmark(String(url)),
})

type ConstraintStrategy = Parameters<FastifyInstance['addConstraintStrategy']>[0]

/** Returns a function that returns the constraints of the routes at a URL of the router, below a prefix. */
export function pathConstraints(
  operations: ServedOperation[],
  prefix: string,
): (url: string) => { constraints?: Record<string, string> } {
  const patterns = new Map<string, string>()
  for (const { servedPaths } of operations)
    for (const { path, url, pattern } of servedPaths)
      if (/[^/]\{|\}[^/]/.test(path)) patterns.set(url, `${prefixPattern(prefix)}${pattern.slice(1)}`)
  return function constraintsAt(url) {
    const template = patterns.get(withoutMark(url))
    return template === undefined ? {} : { constraints: { [constraintName]: template } }
  }
}

/**
 * Returns a function that returns whether the path of a URL of the router has a HEAD operation. Paths that differ only in
 * the names of their parameters are the same path.
 */
function headFinder(operations: ServedOperation[]): (url: string) => boolean {
  const patterns = new Map<string, string>()
  const withHead = new Set<string>()
  for (const { method, servedPaths } of operations)
    for (const { url, pattern } of servedPaths) {
      patterns.set(url, pattern)
      if (method === 'HEAD') withHead.add(pattern)
    }
  return (url) => withHead.has(patterns.get(withoutMark(url)) as string)
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
  const methods: string[] = []
  const sent = [...commonHeaders, ...apiKeyHeaders]
  const readable = [...errorHeaders, ...readableHeaders]
  for (const operation of operations) {
    const { method, parameters, schema, deprecation = {}, preconditions } = operation
    methods.push(method)
    if (preconditions !== undefined) sent.push(...preconditionHeaders(preconditions))
    if (hasKeys(operation)) readable.push('Idempotent-Replayed')
    if (method === 'QUERY') readable.push('Accept-Query')
    for (const parameter of parameters) if (parameter.in === 'header') sent.push(parameter.name)
    for (const { headers = {} } of Object.values(schema.response)) readable.push(...Object.keys(headers))
    readable.push(...Object.keys(deprecation))
  }
  return { methods: distinct(methods), requestHeaders: distinct(sent), responseHeaders: distinct(readable) }
}

/** Returns the request headers of the preconditions that an operation evaluates. */
const preconditionHeaders = ({ validators }: PreconditionRules): string[] => [
  'If-Match',
  'If-None-Match',
  ...(validators.includes('lastModified') ? ['If-Modified-Since', 'If-Unmodified-Since'] : []),
]

/** Returns names in alphabetical order, without duplicates regardless of case. */
const distinct = (names: string[]): string[] =>
  names.filter((name, index) => names.findIndex((one) => one.toLowerCase() === name.toLowerCase()) === index).sort()
