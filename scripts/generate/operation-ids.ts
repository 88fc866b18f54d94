import { join } from './json-pointer.ts'
import { type Document, type Endpoint, endpoints, itemAt } from './openapi-document.ts'
import type { Node } from './walk-document.ts'

/**
 * Returns a document in which each operation that is served has the operationId that `endpoints` gives it. A path item
 * that is referred to stands at its path then, since the names of its operations are those of one path.
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

/** Returns a copy of an object in which the operation at these keys has a name. */
function withId(node: Node, [key, ...below]: string[], operationId: string): Node {
  if (key === undefined) return { ...node, operationId }
  return { ...node, [key]: withId(node[key] as Node, below, operationId) }
}

/** Returns one line for each operation whose handler is called by a name that the document does not hold. */
export const derivedNames = (document: Document): string[] =>
  endpoints(document)
    .filter(({ hasDerivedId }) => hasDerivedId)
    .map(
      (endpoint) =>
        `${pathPlace(endpoint)}: has no operationId; its handler is called ${endpoint.operationId}, after its method and path`,
    )

/** Returns the pointer to an operation below its path, where a derived name belongs, and not behind a $ref. */
const pathPlace = ({ path, keys }: Endpoint): string => join('#', 'paths', path, ...keys)

/** Returns one line for each operation whose name another one has. */
export function nameProblems(document: Document): string[] {
  const all = endpoints(document)
  const seen = new Set<string>()
  const isDouble = (name: string) => seen.size === seen.add(name).size
  const given = all.filter(({ hasDerivedId }) => !hasDerivedId)
  const derived = all.filter(({ hasDerivedId }) => hasDerivedId)
  return [
    ...given
      .filter(({ operationId }) => isDouble(operationId))
      .map(({ operationId, pointer }) => `${pointer}: operation ${operationId} is there twice`),
    ...derived
      .filter(({ operationId }) => isDouble(operationId))
      .map(
        (endpoint) =>
          `${pathPlace(endpoint)}: has no operationId, and ${endpoint.operationId}, after its method and path, is another operation's; give it an operationId`,
      ),
  ]
}
