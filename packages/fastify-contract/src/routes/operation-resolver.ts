import type { FastifyInstance, RouteOptions } from 'fastify'
import type { ServedOperation, ServedPath } from '../contract/routes.ts'
import { pluginParts, preparePlugin } from './contract-plugin.ts'
import {
  type AnyContractOptions,
  type ContractOptions,
  type ContractParts,
  loadOperations,
  onInstance,
  registerOperations,
} from './contract-routes.ts'
import { describedOperations, operationOptions, pathConstraints, pathOptions, routeKey } from './register-routes.ts'
import { routeUrl } from './served-paths.ts'
import { serverPartsOf } from './server-parts.ts'

/** What fastify-openapi-glue calls for each operation of its document. `path` is that of the document. */
export type OperationResolver = (operationId: string, method: string, path: string) => RouteOptions

/**
 * Returns the option `operationResolver` of fastify-openapi-glue, which then registers the operations of a contract on
 * an app. This package registers the operations that fastify-openapi-glue leaves out, such as those of other methods.
 *
 * @param app The instance on which fastify-openapi-glue is registered next.
 * @param options Needed for an app that `createServer` did not create. In an app of `createServer`, call this function
 *   in its option `plugins`.
 */
export function operationResolver<Handlers, Operations = unknown>(
  app: FastifyInstance,
  options?: ContractOptions<Handlers, Operations>,
): OperationResolver {
  const parts =
    options === undefined ? serverPartsOf(app) : resolverParts(app, options as unknown as AnyContractOptions)
  const { routes } = parts.options.contract
  const byId = new Map(routes.operations.map((operation) => [operation.operationId, operation]))
  const described = describedOperations(routes)
  const optionsAt = pathOptions(described, app.prefix)
  return function routeOf(operationId, method, path) {
    const found = byId.get(operationId) ?? operationAt(described, method, path)
    if (found === undefined) {
      const problem = `the contract has no operation ${operationId}, which the specification has`
      throw new Error(`${problem}; run generate for the document that fastify-openapi-glue gets`)
    }
    const url = routeUrl(shortestPath(found), found.selectors)
    parts.registered.add(routeKey(found.method, url))
    const given = operationOptions(found, parts.optionsOf)
    return { ...given, ...optionsAt(url), ...markOf(parts), method: found.method, url }
  }
}

/** Returns the path of an operation below the server with the shortest path: fastify-openapi-glue knows no servers. */
const shortestPath = ({ servedPaths }: ServedOperation): ServedPath =>
  servedPaths.reduce((one, other) => (other.path.length < one.path.length ? other : one))

/** Returns the operation of a method and path, which the path of a server may precede. */
function operationAt(operations: ServedOperation[], method: string, path: string): ServedOperation | undefined {
  let found: ServedOperation | undefined
  for (const operation of operations) {
    const served = shortestPath(operation)
    const isAt = operation.method === method && served.path.endsWith(path)
    if (isAt && (found === undefined || served.path.length < shortestPath(found).path.length)) found = operation
  }
  return found
}

const partsKey = Symbol('parts of the contract')

/** Returns the member of route options that names their contract. */
const markOf = (parts: ContractParts): object => ({ [partsKey]: parts })

const isMarked = (route: RouteOptions & { [partsKey]?: ContractParts }, parts: ContractParts): boolean =>
  route[partsKey] === parts

/**
 * Returns the parts of a contract whose routes fastify-openapi-glue registers on an instance of its own. That instance
 * is prepared when it gets its first route.
 */
function resolverParts(app: FastifyInstance, options: AnyContractOptions): ContractParts {
  const parts = pluginParts(app, options)
  let prepared: FastifyInstance | undefined
  let constraintsAt: ReturnType<typeof pathConstraints>
  app.register(onInstance(async () => await loadOperations(app, parts)))
  app.addHook('onRoute', function prepare(route) {
    if (!isMarked(route, parts)) return
    if (prepared === undefined && this !== app) {
      prepared = this
      constraintsAt = pathConstraints(describedOperations(options.contract.routes), this.prefix)
      preparePlugin(this, parts, this.prefix.slice(app.prefix.length))
      this.register(onInstance(async () => registerOperations(this, parts)))
    }
    if (prepared !== this)
      throw new Error('fastify-openapi-glue must register the routes of an operationResolver, and only once')
    Object.assign(route, constraintsAt(route.routePath))
  })
  return parts
}
