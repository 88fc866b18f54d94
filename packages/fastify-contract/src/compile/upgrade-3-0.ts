import { asWritten31 } from './downgrade-3-2.ts'
import { mapDocument, type Node, type Transforms } from './walk-document.ts'

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
