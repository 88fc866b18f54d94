import { kindOf } from '../../serve/media-types.ts'
import { resolve } from './json-pointer.ts'
import { isNode, mapDocument, type Node, type Transforms } from './walk-document.ts'

/**
 * Returns an OpenAPI document whose schemas are JSON Schema 2020-12, as in OpenAPI 3.1. In 3.0 a schema has nullable
 * next to its type, exclusiveMinimum and exclusiveMaximum are booleans, and siblings of a $ref are ignored (OpenAPI
 * 3.0.4, sections 4.7.24 and 4.7.23). The version of the result is 3.1, so that a second upgrade does not remove
 * siblings of a $ref.
 */
export const asOpenApi31 = <Document extends { openapi: string }>(document: Document): Document =>
  document.openapi.startsWith('3.0.')
    ? { ...mapDocument(document, transforms), openapi: '3.1.0' }
    : document.openapi.startsWith('3.2.')
      ? { ...asWritten31(document), openapi: '3.1.0' }
      : document

const lone = (node: Node): Node => (typeof node.$ref === 'string' ? { $ref: node.$ref } : node)

const transforms: Transforms = {
  schema: (node) => upgraded(lone(node)),
  response: lone,
  parameter: lone,
  requestBody: lone,
  header: lone,
  callback: lone,
}

const limits = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const

function upgraded({ nullable, ...schema }: Node): Node {
  if (nullable === true && typeof schema.type === 'string') schema.type = [schema.type, 'null']
  for (const [limit, exclusive] of limits) {
    if (typeof schema[exclusive] !== 'boolean') continue
    const { [limit]: value, [exclusive]: isExclusive, ...rest } = schema
    schema = value === undefined ? rest : { ...rest, [isExclusive ? exclusive : limit]: value }
  }
  return schema
}

/**
 * Returns a document in which the additions of OpenAPI 3.2 that 3.1 can express are written as in 3.1. A $ref to a
 * media type is replaced by its target. The item schema of a JSON Lines response becomes an array schema, and that of
 * an event stream becomes the schema of the events' data. The other additions stay; the generator supports or rejects
 * them later.
 */
function asWritten31<Document extends object>(document: Document): Document {
  const inPlace = mapDocument(document, { mediaType: (node) => located(document, node) })
  return mapDocument(inPlace, {
    response: ({ content, ...response }) => ({
      ...response,
      ...(content !== undefined && { content: withItems(document, content as Record<string, Node>) }),
    }),
    example: ({ dataValue, ...example }) => ({ ...(dataValue !== undefined && { value: dataValue }), ...example }),
  })
}

function located(document: object, node: Node): Node {
  if (typeof node.$ref !== 'string') return node
  return located(document, resolve(document, node.$ref) as Node)
}

const withItems = (document: object, content: Record<string, Node>): Record<string, Node> =>
  Object.fromEntries(
    Object.entries(content).map(([mediaType, media]) => {
      const { itemSchema, ...rest } = media
      const schema = itemSchema === undefined || 'schema' in rest ? undefined : wholeOf(document, mediaType, itemSchema)
      return [mediaType, schema === undefined ? media : { ...rest, schema }]
    }),
  )

function wholeOf(document: object, mediaType: string, items: unknown): unknown {
  if (kindOf(mediaType) === 'lines') return { type: 'array', items }
  return kindOf(mediaType) === 'events' ? eventData(document, items) : undefined
}

/** Keywords of a schema that are documentation only. */
const annotations = ['title', 'description', 'example', 'examples', '$comment', 'deprecated']

/**
 * Returns the schema of the data that a handler yields for each event, from the schema of an event (OpenAPI 3.2 section
 * 4.14.3.2). Data with contentMediaType application/json are JSON values. Returns undefined if the schema constrains
 * more than the data and the types of the other fields: the service would not check that.
 */
function eventData(document: object, schema: unknown, seen: unknown[] = []): unknown {
  if (!isNode(schema) || seen.includes(schema)) return undefined
  if (typeof schema.$ref === 'string' && hasOnly(schema, ['$ref', ...annotations])) {
    return eventData(document, resolve(document, schema.$ref), [...seen, schema])
  }
  const { properties, required = [] } = schema
  if (!isNode(properties) || !hasOnly(schema, ['type', 'required', 'properties', ...annotations])) return undefined
  const { data = true, ...others } = properties
  const areFree = Object.entries(others).every(([name, one]) => isField(name, one))
  return areFree && [required].flat().every((name) => name === 'data') ? dataOf(data) : undefined
}

const fieldTypes: Record<string, string> = { event: 'string', id: 'string', retry: 'integer' }

const isField = (name: string, schema: unknown): boolean =>
  isNode(schema) && schema.type === fieldTypes[name] && hasOnly(schema, ['type', ...annotations])

const hasOnly = (schema: Node, keywords: string[]): boolean =>
  Object.keys(schema).every((keyword) => keywords.includes(keyword) || keyword.startsWith('x-'))

function dataOf(schema: unknown): unknown {
  if (!isNode(schema) || schema.contentMediaType !== 'application/json') return schema
  return schema.contentSchema ?? true
}
