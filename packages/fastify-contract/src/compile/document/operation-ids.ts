import { type Document, endpoints, itemAt } from './openapi-document.ts'
import type { Node } from './walk-document.ts'

/**
 * Returns a document in which each served operation has the operationId that `endpoints` returns. A path item behind a
 * $ref is copied to its path, since a derived operationId contains the path.
 */
export function withOperationIds(document: Document): Document {
  const missing = endpoints(document).filter(({ hasDerivedId }) => hasDerivedId)
  if (missing.length === 0) return document
  const paths: Record<string, object> = { ...document.paths }
  for (const { path, keys, operationId } of missing) {
    const { pointer: _, ...item } = itemAt(document, path) as Node
    const { $ref: __, ...own } = paths[path] as Node
    paths[path] = withId({ ...item, ...own }, keys, operationId)
  }
  return { ...document, paths }
}

/** Returns a copy of an object in which the operation at these keys has an operationId. */
function withId(node: Node, [key, ...below]: string[], operationId: string): Node {
  if (key === undefined) return { ...node, operationId }
  return { ...node, [key]: withId(node[key] as Node, below, operationId) }
}
