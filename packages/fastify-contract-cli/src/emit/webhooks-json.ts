import type { Operation } from 'fastify-contract/contract'
import type { WebhookTable } from 'fastify-contract/webhooks'
import { callStyles } from '../document/call-styles.ts'
import { type Document, outgoingEndpoints, outgoingItems } from '../document/openapi-document.ts'
import { convertedOperations } from './route-table.ts'

/** Returns what the sender of webhooks and callbacks needs of a document; undefined if the document has none. */
export function webhookTable(document: Document): WebhookTable | undefined {
  const endpoints = outgoingEndpoints(document)
  if (endpoints.length === 0) return undefined
  const styles = callStyles(document, endpoints)
  const { operations, schemas } = convertedOperations(document, endpoints)
  const callbacks: [string, string][] = []
  for (const { name, expression } of outgoingItems(document))
    if (expression !== undefined) callbacks.push([name, expression])
  return { requests: operations.map(requestOf), callbacks: Object.fromEntries(callbacks), schemas }

  function requestOf({
    operationId: name,
    method,
    bodyRequired: isRequired,
    schema,
  }: Operation): WebhookTable['requests'][number] {
    const { querystring, headers, body, response } = schema
    const own = styles[`${method} ${name}`]
    return {
      name,
      method: String(method),
      ...(querystring !== undefined && { querystring }),
      ...(headers !== undefined && { headers }),
      ...(body !== undefined && { body: { isRequired: isRequired === true, ...body } }),
      ...(own !== undefined && { styles: own }),
      responses: Object.fromEntries(
        Object.entries(response).map(([status, { content }]) => [status, content === undefined ? {} : { content }]),
      ),
    }
  }
}
