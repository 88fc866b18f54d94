import type { GlobalContext, OpenAPI3 } from 'openapi-typescript'
import type ts from 'typescript'
import { isIgnored as isIgnoredProperty } from '../../serve/exact-keywords.ts'
import { kindOf } from '../../serve/media-types.ts'
import type { Schema } from '../../serve/schema-keywords.ts'
import { withOptionalHeaders } from '../document/contents.ts'
import { type FormProperty, formProperties, isFile, mediaTypesOf, openPart, partSchema } from '../document/forms.ts'
import { resolve } from '../document/json-pointer.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  isIgnored,
  type MediaType,
  operationsIn,
  outgoingEndpoints,
  outgoingItems,
  type Parameter,
  resolved,
} from '../document/openapi-document.ts'
import { defaultOf, withSchema } from '../document/parameter-objects.ts'
import { isInt64, schemasDescribing } from '../document/schemas.ts'
import { isNode, mapDocument, mapHeld, methods, type Node, withoutKeys } from '../document/walk-document.ts'
import { astToString, compiler, resolveRef, transformSchema } from './typescript.ts'

/**
 * Returns the types of a document with shared schemas as openapi-typescript writes them, adapted to what a handler
 * receives: an int64 is a bigint, since a double cannot hold every 64-bit integer; a file of a form is a Blob; keywords
 * beside a $ref apply; a property with a default is optional, since the service fills in the defaults of parameters
 * only. `operations` holds the served operations. `webhooks` holds what the service itself sends: webhooks, and each
 * callback under its operationId and name.
 */
export function contractTypes(document: Document): string {
  const given = typed(withTypedForms(document))
  // The package's main function would first lint and bundle the document a second time, which takes seconds.
  const nodes = transformSchema(given, {
    discriminators: { objects: {}, refsHandled: [] },
    injectFooter: [],
    resolve: ($ref) => resolveRef(given, $ref, { silent: true }),
    transform({ type, format }) {
      if (format === fileFormat) return factory.createTypeReferenceNode('Blob')
      if (!isInt64({ type, format })) return undefined
      const bigint = factory.createKeywordTypeNode(compiler.SyntaxKind.BigIntKeyword)
      if (![type].flat().includes('null')) return bigint
      return factory.createUnionTypeNode([bigint, factory.createLiteralTypeNode(factory.createNull())])
    },
  } as Partial<GlobalContext> as GlobalContext)
  return astToString(withFacts(document, nodes.map(withoutAdditional)))
}

/** Returns the parts of a document that get types, with path items inlined. Only served operations keep their ids. */
function typed(document: Document): OpenAPI3 {
  const { info, paths = {}, components = {} } = document
  const { pathItems: _, securitySchemes: __, links: ___, ...others } = components as Record<string, object>
  const itemsOf = (paths: object): [name: string, item: Node][] =>
    Object.entries(paths)
      .filter(([name]) => !name.startsWith('x-'))
      .map(([name, item]) => [name, item.$ref ? (resolve(document, item.$ref) as Node) : item])
  const sent = outgoingItems(document).map(({ name, item: { pointer: _, ...item } }): [string, Node] => [name, item])
  const whole = {
    openapi: '3.1.0',
    info: { title: info.title, version: info.version },
    paths: Object.fromEntries(itemsOf(paths).flatMap(withAdditional)),
    components: others,
    ...(sent.length > 0 && { webhooks: withoutIds(Object.fromEntries(sent)) }),
  }
  const withParameters = (node: Node) => withoutIgnored(document, node)
  return mapDocument(whole, {
    pathItem: withParameters,
    operation: withParameters,
    parameter: withSchema,
    // openapi-typescript would follow references that are not types, even to other hosts.
    example: (example) => withoutKeys(example, ['externalValue']),
    response: (response) => withOptionalHeaders(document, withoutKeys(response, ['links'])),
    schema: (schema) => typedSchema(withoutIgnoredProperties(withRequiredMembers(schema))),
    components: (components) => mapHeld(components, 'schemas', asObject),
  }) as unknown as OpenAPI3
}

const withoutIds = (webhooks: Record<string, Node>): object => {
  const { webhooks: nameless } = mapDocument({ webhooks }, { operation: (one) => withoutKeys(one, ['operationId']) })
  return nameless
}

function withoutIgnored(document: Document, node: Node): Node {
  if (!Array.isArray(node.parameters)) return node
  return { ...node, parameters: node.parameters.filter((one) => !isIgnored(resolved<Parameter>(document, one))) }
}

/** Adds the members that an object requires without describing them, since a handler could not set them otherwise. */
function withRequiredMembers(schema: Node): Node {
  const { properties, required, patternProperties, additionalProperties } = schema
  if (!isNode(properties) || patternProperties !== undefined || additionalProperties !== undefined) return schema
  const missing = [required ?? []].flat().filter((name) => !Object.hasOwn(properties, name as string))
  if (missing.length === 0) return schema
  return { ...schema, properties: { ...properties, ...Object.fromEntries(missing.map((name) => [name, {}])) } }
}

/** Returns a schema without its ignored properties, and without `properties` if none are left. */
function withoutIgnoredProperties(schema: Node): Node {
  const all = Object.entries(Object(schema.properties) as Record<string, Schema>)
  const kept = all.filter(([, each]) => !isIgnoredProperty(each))
  if (kept.length === all.length) return schema
  const { properties: _, ...rest } = schema
  return kept.length === 0 ? rest : { ...rest, properties: Object.fromEntries(kept) }
}

/** Returns a schema from which openapi-typescript writes the type of its values. */
const typedSchema = (schema: Node): Node =>
  withAllOfReference(withoutBooleans(withAnyMember(withExactInt64(withoutRepeated(schema)))))

/** Drops keywords that the normalized schemas already express: openapi-typescript would write them a second time. */
const withoutRepeated = (schema: Node): Node => withoutKeys(schema, ['discriminator', '$defs', 'definitions'])

/** Drops the enum and const of an int64, which hold numbers and not bigints, and separates it from its other types. */
function withExactInt64(node: Node): Node {
  if (!isInt64(node)) return node
  const { enum: _, const: __, ...schema } = node
  const types = [node.type].flat()
  const others = types.filter((type) => type !== 'integer' && type !== 'null')
  if (others.length === 0) return schema
  return {
    anyOf: [
      { ...schema, type: types.filter((type) => !others.includes(type)) },
      { ...node, type: others, format: undefined },
    ],
  }
}

/** Keywords that describe which members an object has. */
const memberKeywords = [
  'properties',
  'patternProperties',
  'additionalProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'enum',
  'const',
]

/** Allows any member in an object whose schema describes none: openapi-typescript would type it as an empty object. */
const withAnyMember = (schema: Node): Node =>
  [schema.type].flat().includes('object') && !memberKeywords.some((keyword) => Object.hasOwn(schema, keyword))
    ? { ...schema, additionalProperties: true }
    : schema

/** Returns a boolean schema as an object, which openapi-typescript expects in an allOf and in the components. */
const asObject = (schema: unknown): unknown => (typeof schema === 'boolean' ? { anyOf: [schema] } : schema)

const withoutBooleans = (schema: Node): Node =>
  Array.isArray(schema.allOf) ? { ...schema, allOf: schema.allOf.map(asObject) } : schema

/** Keywords that openapi-typescript applies beside a $ref, or that have no effect on a type. */
const annotations = /^(summary|description|title|deprecated|default|examples?|readOnly|writeOnly)$/

/** Moves a $ref with siblings into allOf: openapi-typescript ignores the siblings (OpenAPI 3.1 section 4.8.24). */
function withAllOfReference(node: Node): Node {
  const { $ref, allOf, ...rest } = node
  if (typeof $ref !== 'string') return node
  if (allOf === undefined && Object.keys(rest).every((key) => annotations.test(key))) return node
  return { ...rest, allOf: [{ $ref }, ...((allOf ?? []) as unknown[])] }
}

/** The methods that openapi-typescript knows: it supports OpenAPI 3.1, which has no `query`. */
const known = methods.filter((method) => method !== 'query')

/**
 * Returns a path item, and one more item for each operation whose method openapi-typescript does not know. Such an item
 * has a name that is not a path and holds the operation as a POST, so that openapi-typescript writes its types.
 */
function withAdditional([path, item]: [path: string, item: Node]): [name: string, item: Node][] {
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
function withoutAdditional(node: ts.Node): ts.Node {
  if (!compiler.isInterfaceDeclaration(node) || node.name.text !== 'paths') return node
  const members = node.members.filter(
    ({ name }) => name === undefined || !compiler.isStringLiteral(name) || name.text.startsWith('/'),
  )
  return factory.updateInterfaceDeclaration(
    node,
    node.modifiers,
    node.name,
    node.typeParameters,
    node.heritageClauses,
    members,
  )
}

const { factory } = compiler

/**
 * Returns the types of a document in which the type of an operation has two more members, if they are not empty.
 * `defaults` has the names of the parameters with a default, by location (path, query, header, cookie): a client may
 * omit them, and a handler always receives them. `kinds` has the kinds of its media types other than JSON.
 */
function withFacts(document: Document, nodes: ts.Node[]): ts.Node[] {
  const served = new Map(
    endpoints(document).map((each) => [each.operationId, [...defaultsOf(document, each), ...kindsOf(each)]]),
  )
  const sent = new Map(
    outgoingEndpoints(document).map((each) => [`${each.operationId} ${each.method.toLowerCase()}`, kindsOf(each)]),
  )
  return nodes.map((node) => {
    if (!compiler.isInterfaceDeclaration(node) || !['operations', 'webhooks'].includes(node.name.text)) return node
    const { modifiers, name, typeParameters, heritageClauses } = node
    const members = node.members.map((member) => {
      if (name.text === 'operations')
        return mapMembers(member, (all) => [...all, ...(served.get(nameOf(member)) ?? [])])
      const factsOf = (method: ts.TypeElement) => sent.get(`${nameOf(member)} ${nameOf(method)}`) ?? []
      return mapMembers(member, (methods) =>
        methods.map((method) => mapMembers(method, (all) => [...all, ...factsOf(method)])),
      )
    })
    return factory.updateInterfaceDeclaration(node, modifiers, name, typeParameters, heritageClauses, members)
  })
}

const nameOf = ({ name }: ts.TypeElement): string => (name as ts.Identifier | ts.StringLiteral).text

/** Changes the members of the object type that a property has, if it has one. */
function mapMembers(element: ts.TypeElement, change: (members: readonly ts.TypeElement[]) => ts.TypeElement[]) {
  if (!compiler.isPropertySignature(element) || !element.type || !compiler.isTypeLiteralNode(element.type))
    return element
  const { modifiers, name, questionToken, type } = element
  const changed = factory.updateTypeLiteralNode(type, factory.createNodeArray(change(type.members)))
  return factory.updatePropertySignature(element, modifiers, name, questionToken, changed)
}

/** Returns a property whose type is an object with these properties; none if there are none. */
const objectProperty = (name: string, members: [name: string, texts: string[]][]): ts.TypeElement[] =>
  members.length === 0
    ? []
    : [property(name, factory.createTypeLiteralNode(members.map(([key, texts]) => property(key, union(texts)))))]

function kindsOf({ requestBody, responses }: Endpoint): ts.TypeElement[] {
  const contents = [requestBody, ...Object.values(responses)].map((holder) => holder?.content ?? {})
  const mediaTypes = [...new Set(contents.flatMap(Object.keys))].filter((each) => kindOf(each) !== 'json')
  return objectProperty(
    'kinds',
    mediaTypes.map((each) => [each, [kindOf(each)]]),
  )
}

const property = (name: string, type: ts.TypeNode) =>
  factory.createPropertySignature(
    undefined,
    /^\w+$/.test(name) ? name : factory.createStringLiteral(name),
    undefined,
    type,
  )

const union = (texts: string[]) =>
  factory.createUnionTypeNode(texts.map((text) => factory.createLiteralTypeNode(factory.createStringLiteral(text))))

function defaultsOf(document: Document, { parameters }: Endpoint): ts.TypeElement[] {
  const names = new Map<string, string[]>()
  for (const parameter of parameters) {
    if (!('default' in defaultOf(document, parameter))) continue
    names.set(parameter.in, [...(names.get(parameter.in) ?? []), parameter.name])
  }
  return objectProperty('defaults', [...names])
}

/** The format that marks a file in the document from which the types are generated. */
const fileFormat = 'x-file'

/**
 * Returns a document in which each multipart form is an object with the properties that parts have, and each file is a
 * string with the format `fileFormat`. A handler receives the parts one by one; a client sends them together.
 */
const withTypedForms = (document: Document): Document =>
  mapDocument(document, {
    requestBody: (node) =>
      mapHeld(node, 'content', (media, mediaType) =>
        kindOf(mediaType) === 'multipart'
          ? { ...Object(media), schema: typedForm(document, media as MediaType) }
          : media,
      ),
  })

function typedForm(document: Document, media: MediaType): Node {
  const typeOf = ({ schema, encoding }: FormProperty): Schema => {
    const { isItem, schema: each } = partSchema(document, schema)
    if (!isFile(document, each, mediaTypesOf(encoding))) return schema
    const file: Schema = { type: 'string', format: fileFormat }
    return isItem ? { type: 'array', items: file } : file
  }
  const properties = formProperties(document, media).map((property) => [property.name, typeOf(property)])
  const open = openPart(document, media)
  const certain = schemasDescribing(document, [media.schema], ['allOf'])
  const required = new Set(certain.flatMap((part) => (part.required ?? []) as string[]))
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [...required].filter((name) => properties.some(([known]) => known === name)),
    ...(open && { additionalProperties: typeOf(open) }),
  }
}
