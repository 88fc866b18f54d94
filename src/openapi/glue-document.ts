import type { Document, Endpoint } from './document.ts'

/**
 * Takes the operations of a document; gives the document that glue makes their routes from: the operations where they
 * are served, with their statuses and what they read. Of the whole one glue would copy each schema into every place that
 * refers to it, warn of cookies and obey extensions that are other tools' own.
 */
export function outline({ info: { title, version } }: Document, all: Endpoint[]) {
  const paths: Record<string, Record<string, object>> = {}
  for (const { routes, method, operationId, requestBody, responses } of all) {
    const content = Object.fromEntries(Object.keys(requestBody?.content ?? {}).map((type) => [type, { schema: {} }]))
    const operation = {
      operationId,
      ...(requestBody && { requestBody: { content } }),
      responses: Object.fromEntries(Object.keys(responses).map((status) => [status, { description: '' }])),
    }
    for (const route of routes) paths[route] = { ...paths[route], [method.toLowerCase()]: operation }
  }
  return { openapi: '3.1.0', info: { title, version }, paths }
}
