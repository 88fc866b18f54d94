import ts from 'typescript'
import { type Document, endpoints, type Parameter } from './openapi-document.ts'
import { defaultOf } from './parameter-texts.ts'

const { factory } = ts

/**
 * Returns the types of a document in which each operation with parameter defaults has a member `defaults`: the names of
 * these parameters by location (path, query, header, cookie). A client may omit them; a handler always receives them.
 */
export function withDefaults(document: Document, nodes: ts.Node[]): ts.Node[] {
  const defaults = new Map(
    endpoints(document).map((endpoint) => [endpoint.operationId, defaultNames(document, endpoint)]),
  )
  return nodes.map((node) => {
    if (!ts.isInterfaceDeclaration(node) || node.name.text !== 'operations') return node
    const members = node.members.map((member) => withMember(member, defaults))
    return factory.updateInterfaceDeclaration(
      node,
      node.modifiers,
      node.name,
      node.typeParameters,
      node.heritageClauses,
      members,
    )
  })
}

function withMember(operation: ts.TypeElement, defaults: Map<string, [place: string, names: string[]][]>) {
  if (!ts.isPropertySignature(operation) || !operation.type || !ts.isTypeLiteralNode(operation.type)) return operation
  const { modifiers, name, questionToken, type } = operation
  const places = defaults.get((name as ts.Identifier | ts.StringLiteral).text) ?? []
  if (places.length === 0) return operation
  const member = property(
    'defaults',
    factory.createTypeLiteralNode(places.map(([place, names]) => property(place, union(names)))),
  )
  const more = factory.updateTypeLiteralNode(type, factory.createNodeArray([...type.members, member]))
  return factory.updatePropertySignature(operation, modifiers, name, questionToken, more)
}

const property = (name: string, type: ts.TypeNode) => factory.createPropertySignature(undefined, name, undefined, type)

const union = (names: string[]) =>
  factory.createUnionTypeNode(names.map((name) => factory.createLiteralTypeNode(factory.createStringLiteral(name))))

function defaultNames(
  document: Document,
  { parameters }: { parameters: Parameter[] },
): [place: string, names: string[]][] {
  const names = new Map<string, string[]>()
  for (const parameter of parameters) {
    if (!('default' in defaultOf(document, parameter))) continue
    names.set(parameter.in, [...(names.get(parameter.in) ?? []), parameter.name])
  }
  return [...names]
}
