import { type Schema, schemasIn } from '../serve/schema-keywords.ts'
import { schemasBelow } from './schema-graph.ts'
import type { Node } from './walk-document.ts'

/** The types of JSON Schema. */
export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object'

/** Keywords whose subschemas may limit the types of a value. */
const branches = ['allOf', 'anyOf', 'oneOf']

/**
 * Returns the schemas that describe one value together: the given ones, the targets of their references, and the
 * subschemas in `keywords`. Each is included once, even if a schema contains itself.
 */
export function schemasDescribing(document: object, schemas: unknown[], keywords: string[]): Node[] {
  const found = new Set<Node>()
  const waiting = [...schemas].reverse()
  while (waiting.length > 0) {
    const schema = waiting.pop()
    if (typeof schema !== 'object' || schema === null || found.has(schema as Node)) continue
    found.add(schema as Node)
    for (const below of schemasBelow(document, schema as Node, keywords).reverse()) waiting.push(below)
  }
  return [...found]
}

/** Returns the types that a schema or its subschemas name for its values, and those for the items of an array. */
export function typesOf(document: object, schema: Schema | undefined): { types: JsonType[]; items: JsonType[] } {
  const schemas = schemasDescribing(document, [schema], branches)
  const items = schemas.flatMap((each) => [...schemasIn(each, 'items'), ...schemasIn(each, 'prefixItems')])
  return {
    types: unique(schemas.flatMap(ownTypes)),
    items: unique(schemasDescribing(document, items, branches).flatMap(ownTypes)),
  }
}

const unique = <T>(values: T[]): T[] => [...new Set(values)]

function ownTypes({ type, properties, enum: values, const: value }: Node): JsonType[] {
  if (type !== undefined) return [type].flat() as JsonType[]
  if (properties !== undefined) return ['object']
  const listed = value === undefined ? values : [value]
  return Array.isArray(listed) ? listed.map(typeOfValue) : []
}

/** Returns the type of a JSON value; the type of an integer is number. */
export function typeOfValue(value: unknown): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonType
}
