import { join } from './json-pointer.ts'
import { type Document, type Endpoint, endpoints, itemAt } from './openapi-document.ts'
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

/** Returns one line for each operation without operationId, whose handler therefore has a derived name. */
export const derivedNameWarnings = (document: Document): string[] =>
  endpoints(document)
    .filter(({ hasDerivedId }) => hasDerivedId)
    .map(
      (endpoint) =>
        `${pathPlace(endpoint)}: has no operationId; its handler is named ${endpoint.operationId}, after its method and path`,
    )

/**
 * Returns the pointer to an operation below its path, without following a $ref: the derived name belongs to the path.
 */
const pathPlace = ({ path, keys }: Endpoint): string => join('#', 'paths', path, ...keys)

/** Returns one line for each operation whose operationId another operation has, too. */
export function nameProblems(document: Document): string[] {
  const all = endpoints(document)
  const seen = new Set<string>()
  const isDuplicate = (name: string) => seen.size === seen.add(name).size
  const given = all.filter(({ hasDerivedId }) => !hasDerivedId)
  const derived = all.filter(({ hasDerivedId }) => hasDerivedId)
  return [
    ...given
      .filter(({ operationId }) => isDuplicate(operationId))
      .map(({ operationId, pointer }) => `${pointer}: operationId ${operationId} is used twice; rename one of them`),
    ...derived
      .filter(({ operationId }) => isDuplicate(operationId))
      .map(
        (endpoint) =>
          `${pathPlace(endpoint)}: has no operationId, and ${endpoint.operationId}, derived from its method and path, is the name of another operation; add an operationId`,
      ),
  ]
}
