import ts from 'typescript'
import { methods } from './openapi-grammar.ts'
import { operationsIn } from './path-operations.ts'
import type { Node } from './walk-document.ts'

/** The methods that openapi-typescript knows: it supports OpenAPI 3.1, which has no `query`. */
const known = methods.filter((method) => method !== 'query')

/**
 * Returns a path item, and one more item for each operation whose method openapi-typescript does not know. Such an item
 * has a name that is not a path and holds the operation as a POST, so that openapi-typescript writes its types.
 */
export function withAdditional([path, item]: [path: string, item: Node]): [name: string, item: Node][] {
  const { query, additionalOperations = {}, ...rest } = item
  const others = operationsIn(item).filter(({ keys: [key = ''] }) => !known.includes(key))
  const { parameters } = rest
  const items = others.map(({ method }): [string, Node] => [
    `${method} ${path}`,
    { ...(parameters !== undefined && { parameters }), post: (additionalOperations as Node)[method] ?? query },
  ])
  return [[path, rest], ...items]
}

/** Removes the items that `withAdditional` added from the declaration of `paths`. */
export function withoutAdditional(node: ts.Node): ts.Node {
  if (!ts.isInterfaceDeclaration(node) || node.name.text !== 'paths') return node
  const members = node.members.filter(
    ({ name }) => name === undefined || !ts.isStringLiteral(name) || name.text.startsWith('/'),
  )
  return ts.factory.updateInterfaceDeclaration(
    node,
    node.modifiers,
    node.name,
    node.typeParameters,
    node.heritageClauses,
    members,
  )
}
