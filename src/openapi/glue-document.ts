import type { Operation, Routes } from './routes.ts'

/**
 * Returns the document that fastify-openapi-glue registers routes from: the operations where they are served. Their
 * schemas reach Fastify with their handlers, since glue would copy each shared schema into every place that refers to it.
 */
export function glueDocument({ info, operations }: Routes) {
  const paths: Record<string, Record<string, object>> = {}
  for (const { servedPaths, method, operationId, schema } of operations) {
    const responses = Object.fromEntries(Object.keys(schema.response).map((status) => [status, { description: '' }]))
    for (const path of servedPaths) paths[path] = { ...paths[path], [methodKey(method)]: { operationId, responses } }
  }
  return { openapi: '3.1.0', info, paths }
}

const methodKey = (method: Operation['method']) => String(method).toLowerCase()
