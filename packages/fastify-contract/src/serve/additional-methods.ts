import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Operation } from './routes.ts'

/** The HTTP methods that fastify-openapi-glue registers. */
const glueMethods = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH']

/** Returns whether OpenAPI 3.2 added the method of an operation, such as QUERY or COPY. */
export const isAdditional = ({ method }: Operation): boolean => !glueMethods.includes(String(method))

/** Registers the operations with additional methods; fastify-openapi-glue registers all others. */
export function registerAdditional(
  app: FastifyInstance,
  operations: Operation[],
  optionsOf: (operation: Operation, url: string) => RouteOptions,
): void {
  for (const operation of operations.filter(isAdditional)) {
    const method = String(operation.method)
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true })
    for (const { url } of operation.servedPaths) app.route({ ...optionsOf(operation, url), method, url })
  }
}
