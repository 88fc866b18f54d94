import { resolve } from './json-pointer.ts'
import { isNode, type Node } from './walk-document.ts'

/** Keywords of a schema that are documentation only. */
const annotations = ['title', 'description', 'example', 'examples', '$comment', 'deprecated']

/**
 * Returns the schema of the data that a handler yields for each event, from the schema of an event (OpenAPI 3.2 section
 * 4.14.3.2). Data with contentMediaType application/json are JSON values. Returns undefined if the schema constrains
 * more than the data and the types of the other fields: the service would not check that.
 */
export function eventData(document: object, schema: unknown, seen: unknown[] = []): unknown {
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
