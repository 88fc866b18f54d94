import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import { withAdditional, withoutAdditional } from './additional-types.ts'
import { withDefaults } from './default-types.ts'
import { fileFormat, withTypedForms } from './form-types.ts'
import { withoutIgnoredProperties } from './ignored-property-schemas.ts'
import { isInt64 } from './inexact-integers.ts'
import { resolve } from './json-pointer.ts'
import { type Document, endpoints, isIgnored, locate, type Parameter } from './openapi-document.ts'
import { withSchema } from './parameter-content.ts'
import { withOptionalHeaders } from './response-headers.ts'
import { mapDocument, type Node } from './walk-document.ts'

/**
 * Returns the types of a document with shared schemas as openapi-typescript writes them, adapted to what a handler
 * receives: an int64 is a bigint, since a double cannot hold every 64-bit integer; a file of a form is a Blob; keywords
 * beside a $ref apply; a property with a default is optional, since the service fills in the defaults of parameters
 * only. `operations` holds the served operations. `webhooks` holds what the service itself sends: webhooks, and each
 * callback under its operationId and name.
 */
export async function contractTypes(document: Document): Promise<string> {
  const { factory, SyntaxKind } = ts
  const nodes = await openapiTS(typed(withTypedForms(document)), {
    defaultNonNullable: false,
    transform({ type, format }) {
      if (format === fileFormat) return factory.createTypeReferenceNode('Blob')
      if (!isInt64({ type, format })) return undefined
      const bigint = factory.createKeywordTypeNode(SyntaxKind.BigIntKeyword)
      if (![type].flat().includes('null')) return bigint
      return factory.createUnionTypeNode([bigint, factory.createLiteralTypeNode(factory.createNull())])
    },
  })
  return astToString(withDefaults(document, nodes.map(withoutAdditional)))
}

/** Returns the parts of a document that get types, with path items inlined. Only served operations keep their ids. */
function typed(document: Document): OpenAPI3 {
  const { info, paths = {}, webhooks = {}, components = {} } = document as Document & { webhooks?: object }
  const { pathItems: _, securitySchemes: __, links: ___, ...others } = components as Record<string, object>
  const itemsOf = (paths: object): [name: string, item: Node][] =>
    Object.entries(paths)
      .filter(([name]) => !name.startsWith('x-'))
      .map(([name, item]) => [name, item.$ref ? (resolve(document, item.$ref) as Node) : item])
  const sent = [...itemsOf(webhooks), ...callbacks(document).flatMap(([name, paths]) => itemsOf(named(name, paths)))]
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
    example: ({ externalValue: _, ...example }) => example,
    response: ({ links: _, ...response }) => withOptionalHeaders(document, response),
    schema: (schema) => typedSchema(withoutIgnoredProperties(schema)),
    components: ({ schemas = {}, ...more }) => ({ ...more, schemas: mapped(schemas as Node, asObject) }),
  }) as unknown as OpenAPI3
}

const mapped = (node: Node, map: (value: unknown) => unknown): Node =>
  Object.fromEntries(Object.entries(node).map(([name, value]) => [name, map(value)]))

const withoutIds = (webhooks: Record<string, Node>): object => {
  const { webhooks: nameless } = mapDocument({ webhooks }, { operation: ({ operationId: _, ...rest }) => rest })
  return nameless
}

function callbacks(document: Document): [name: string, paths: object][] {
  return endpoints(document).flatMap(({ operationId, pointer }) => {
    const { callbacks = {} } = resolve(document, pointer) as { callbacks?: Record<string, Node> }
    return Object.entries(callbacks).map(([name, callback]): [string, object] => [
      `${operationId} ${name}`,
      typeof callback.$ref === 'string' ? (resolve(document, callback.$ref) as object) : callback,
    ])
  })
}

/** Returns the items of a callback: the first one has the callback's name, each further one also its expression. */
const named = (name: string, paths: object): object =>
  Object.fromEntries(Object.entries(paths).map(([key, item], index) => [index === 0 ? name : `${name} ${key}`, item]))

function withoutIgnored(document: Document, node: Node): Node {
  if (!Array.isArray(node.parameters)) return node
  const refers = ({ $ref }: Node) => ($ref === undefined ? undefined : locate<Parameter>(document, $ref as string))
  return { ...node, parameters: node.parameters.filter((one) => !isIgnored(refers(one) ?? one)) }
}

/** Returns a schema from which openapi-typescript writes the type of its values. */
const typedSchema = (schema: Node): Node =>
  withAllOfReference(withoutBooleans(withAnyMember(withExactInt64(withoutRepeated(schema)))))

/** Drops keywords that the normalized schemas already express: openapi-typescript would write them a second time. */
const withoutRepeated = ({ discriminator: _, $defs: __, definitions: ___, ...schema }: Node): Node => schema

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
