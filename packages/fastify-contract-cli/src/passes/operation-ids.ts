import { resolve } from '../document/json-pointer.ts'
import { type Document, endpoints, itemAt } from '../document/openapi-document.ts'
import type { Node } from '../document/walk-document.ts'

/**
 * Returns a document in which each served operation has the operationId that `endpoints` returns. A path item behind a
 * $ref is copied to its path, since a derived operationId contains the path.
 */
export function withOperationIds(
  document: Document,
  isRenamed: (given: string | undefined) => boolean = () => true,
): Document {
  const missing = endpoints(document).filter(
    ({ hasDerivedId, pointer }) =>
      hasDerivedId && isRenamed((resolve(document, pointer) as Node).operationId as string),
  )
  if (missing.length === 0) return document
  const paths: Record<string, object> = { ...document.paths }
  for (const { path, keys, operationId } of missing) {
    const { pointer: _, ...item } = itemAt(document, path) as Node
    const { $ref: __, ...own } = paths[path] as Node
    paths[path] = withId({ ...item, ...own }, keys, operationId)
  }
  return { ...document, paths }
}

/** Returns a document in which an operationId that cannot be served is replaced by the one that is served. */
export const withReplacedOperationIds = (document: Document): Document => withOperationIds(document, Boolean)

/** Returns a copy of an object in which the operation at these keys has an operationId. */
function withId(node: Node, [key, ...below]: string[], operationId: string): Node {
  if (key === undefined) return { ...node, operationId }
  return { ...node, [key]: withId(node[key] as Node, below, operationId) }
}
