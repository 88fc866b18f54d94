import { isAdditional } from './additional-methods.ts'
import type { Routes } from './routes.ts'

/**
 * Returns the document from which fastify-openapi-glue registers routes: the operations, with paths in Fastify's
 * syntax. It has no schemas, since glue would copy each shared schema into every place that refers to it; they reach
 * Fastify in the route options.
 */
export function glueDocument({ info, operations }: Routes) {
  const paths: Record<string, Record<string, object>> = {}
  for (const { servedPaths, method, operationId, schema } of operations.filter((one) => !isAdditional(one))) {
    const responses = Object.fromEntries(Object.keys(schema.response).map((status) => [status, { description: '' }]))
    const operation = { [String(method).toLowerCase()]: { operationId, responses } }
    for (const { url } of servedPaths) paths[url] = { ...paths[url], ...operation }
  }
  return { openapi: '3.1.0', info, paths }
}
