import { randomUUID } from 'node:crypto'
import type { GlobalContext, OpenAPI3 } from 'openapi-typescript'
import type ts from 'typescript'
import { mapScalars } from '../document/walk-document.ts'
import { typeDeclarer } from './named-types.ts'
import { typeOfSchema } from './schema-types.ts'
import { astToString, compiler, resolveRef, transformSchema } from './typescript.ts'

const { factory } = compiler

type TypeDeclarer = ReturnType<typeof typeDeclarer>

/** A member that the type of an operation gets: its name, and its own members, each with the texts that it may be. */
export type Fact = [name: string, members: [name: string, texts: string[]][]]

type OperationFacts = { typeName: string; facts: Fact[] }

/**
 * The facts of the members of `operations`, by name, with the names of their types, and of the methods of `webhooks`, by
 * `NAME METHOD`.
 */
export type Facts = {
  operations: Map<string, OperationFacts>
  webhooks: Map<string, Fact[]>
}

/**
 * Returns the types of a document as openapi-typescript writes them, in which the types of operations also have their
 * facts, and `paths` has only names that are paths.
 */
export function printTypes(document: object, facts: Facts): string {
  // A comment shows a default or an example, which JSON.stringify would not write with a bigint.
  const mark = randomUUID()
  const withMark = (scalar: unknown) => (typeof scalar === 'bigint' ? `${mark}${scalar}` : scalar)
  const given = mapScalars(document, withMark) as OpenAPI3
  // The package's main function would first lint and bundle the document a second time, which takes seconds.
  const nodes = transformSchema(given, {
    discriminators: { objects: {}, refsHandled: [] },
    injectFooter: [],
    resolve: ($ref) => resolveRef(given, $ref, { silent: true }),
    transform: typeOfSchema,
  } as Partial<GlobalContext> as GlobalContext)
  const queries = queriesIn(nodes)
  const declarer = typeDeclarer()
  const changed = nodes.map((node) => changedDeclaration(node, facts, queries, declarer))
  const text = astToString([...changed, ...declarer.declarations])
  return withDeclaredHeaders(text.replace(new RegExp(`"?${mark}(-?\\d+)"?`, 'g'), '$1'))
}

/**
 * Removes the index signature that openapi-typescript adds to the headers of each response: the service sends no header
 * that the response does not declare. No comment has such a line, since each line of a comment starts with an asterisk.
 */
const withDeclaredHeaders = (text: string): string =>
  text
    .replace(/^( *headers:) \{\n *\[name: string\]: unknown;\n *\};$/gm, '$1 Record<string, never>;')
    .replace(/^ *\[name: string\]: unknown;\n/gm, '')

function changedDeclaration(
  node: ts.Node,
  facts: Facts,
  queries: Map<string, ts.TypeElement>,
  declarer: TypeDeclarer,
): ts.Node {
  if (!compiler.isInterfaceDeclaration(node)) return node
  const { name } = node
  if (name.text === 'components')
    return withMembers(
      node,
      node.members.map((member) => withNamed(member, declarer)),
    )
  if (name.text === 'paths') {
    return withMembers(
      node,
      node.members.filter(isPathMember).map((member) => withQuery(member, queries.get(`QUERY ${nameOf(member)}`))),
    )
  }
  if (name.text === 'operations') {
    return withMembers(
      node,
      node.members.map(function changedOperation(member) {
        const { typeName, facts: added } = facts.operations.get(nameOf(member)) as OperationFacts
        return withNamedParts(withFacts(member, added), typeName, declarer)
      }),
    )
  }
  if (name.text !== 'webhooks') return node
  return withMembers(
    node,
    node.members.map(function changedWebhook(member) {
      const query = queries.get(webhookQuery(nameOf(member)))
      return withMethodFacts(withQuery(member, query), facts.webhooks)
    }),
  )
}

/** Returns `schemas` of `components` with a declaration for each schema; any other member as it is. */
const withNamed = (member: ts.TypeElement, { declared }: TypeDeclarer): ts.TypeElement =>
  nameOf(member) === 'schemas'
    ? mapMembers(member, (schemas) => schemas.map((schema) => declared(schema, nameOf(schema), true)))
    : member

/** Returns an operation with a declaration for its parameters of each location, and for each body without a name. */
function withNamedParts(operation: ts.TypeElement, name: string, { declared }: TypeDeclarer): ts.TypeElement {
  const bodies = (holder: ts.TypeElement, prefix: string) =>
    mapMembers(holder, (members) =>
      members.map((member) =>
        nameOf(member) === 'content'
          ? mapMembers(member, (media) => media.map((each) => declared(each, `${prefix} body`)))
          : member,
      ),
    )
  return mapMembers(operation, (members) =>
    members.map(function namedPart(member) {
      const part = nameOf(member)
      if (part === 'requestBody') return bodies(member, name)
      if (part === 'responses')
        return mapMembers(member, (all) => all.map((response) => bodies(response, `${name} ${nameOf(response)}`)))
      if (part !== 'parameters') return member
      return mapMembers(member, (places) => places.map((place) => declared(place, `${name} ${nameOf(place)}`)))
    }),
  )
}

const withMembers = (node: ts.InterfaceDeclaration, members: ts.TypeElement[]): ts.InterfaceDeclaration =>
  factory.updateInterfaceDeclaration(
    node,
    node.modifiers,
    node.name,
    node.typeParameters,
    node.heritageClauses,
    members,
  )

/** Returns the name in `paths` of the QUERY operation of a webhook, a name that is neither a path nor that of another. */
export const webhookQuery = (name: string): string => `QUERY webhook ${name}`

/**
 * Returns the members of `paths` that are not paths, by name: the document has the operations of methods that
 * openapi-typescript does not know as the POST of an item of their own, whose name is `METHOD PATH` or `webhookQuery`.
 */
function queriesIn(nodes: ts.Node[]): Map<string, ts.TypeElement> {
  const found = new Map<string, ts.TypeElement>()
  for (const node of nodes) {
    if (!compiler.isInterfaceDeclaration(node) || node.name.text !== 'paths') continue
    for (const member of node.members) if (!isPathMember(member)) found.set(nameOf(member), member)
  }
  return found
}

/** Returns a member of `paths` or `webhooks` with the member `query`, whose type is that of the POST of an item. */
function withQuery(member: ts.TypeElement, item: ts.TypeElement | undefined): ts.TypeElement {
  if (item === undefined) return member
  const { members } = (item as ts.PropertySignature).type as ts.TypeLiteralNode
  const post = members.find((each) => nameOf(each) === 'post') as ts.PropertySignature
  return mapMembers(member, (methods) => [...methods, property('query', post.type as ts.TypeNode)])
}

/** Returns whether a member of `paths` is a path, and not another name of the document. */
const isPathMember = ({ name }: ts.TypeElement): boolean =>
  name === undefined || !compiler.isStringLiteral(name) || name.text.startsWith('/')

const nameOf = ({ name }: ts.TypeElement): string => (name as ts.Identifier | ts.StringLiteral).text

const withFacts = (operation: ts.TypeElement, facts: Fact[] = []): ts.TypeElement =>
  mapMembers(operation, (members) => [...members, ...facts.flatMap(propertyOf)])

const withMethodFacts = (webhook: ts.TypeElement, facts: Facts['webhooks']): ts.TypeElement =>
  mapMembers(webhook, (methods) =>
    methods.map((method) => withFacts(method, facts.get(`${nameOf(webhook)} ${nameOf(method)}`))),
  )

/** Changes the members of the object type that a property has, if it has one. */
function mapMembers(element: ts.TypeElement, change: (members: readonly ts.TypeElement[]) => ts.TypeElement[]) {
  if (!compiler.isPropertySignature(element) || !element.type || !compiler.isTypeLiteralNode(element.type))
    return element
  const { modifiers, name, questionToken, type } = element
  const changed = factory.updateTypeLiteralNode(type, factory.createNodeArray(change(type.members)))
  return factory.updatePropertySignature(element, modifiers, name, questionToken, changed)
}

/** Returns the property for a fact; none if it has no members. */
const propertyOf = ([name, members]: Fact): ts.TypeElement[] =>
  members.length === 0
    ? []
    : [property(name, factory.createTypeLiteralNode(members.map(([key, texts]) => property(key, union(texts)))))]

const property = (name: string, type: ts.TypeNode): ts.PropertySignature =>
  factory.createPropertySignature(
    undefined,
    /^\w+$/.test(name) ? name : factory.createStringLiteral(name),
    undefined,
    type,
  )

const union = (texts: string[]): ts.UnionTypeNode => factory.createUnionTypeNode(texts.map(literalType))

const literalType = (text: string): ts.LiteralTypeNode =>
  factory.createLiteralTypeNode(factory.createStringLiteral(text))
