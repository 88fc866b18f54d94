import ts from 'typescript'
import { methods } from './openapi-grammar.ts'
import { operationsIn } from './path-operations.ts'
import type { Node } from './walk-document.ts'

/** The methods that openapi-typescript knows, which is of OpenAPI 3.1. */
const known = methods.filter((method) => method !== 'query')

/**
 * Returns a path item with one more item for each of its operations of another method, as a POST below a name that is no
 * path: so openapi-typescript writes the types of these operations, too.
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

/** Returns a declaration without the names of `withAdditional`. */
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
