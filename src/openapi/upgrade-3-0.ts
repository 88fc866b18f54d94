/** What stands in a document as a value, not as a schema; and what holds schemas by names, which may be the same. */
const values = ['enum', 'default', 'example', 'examples']
const maps = ['properties', 'schemas']

/**
 * Takes an OpenAPI document; gives one whose schemas are those of JSON Schema 2020-12, as in OpenAPI 3.1. In 3.0 a schema
 * says nullable beside its type, exclusiveMinimum and exclusiveMaximum are true or false, and nothing counts that stands
 * beside a $ref (OpenAPI 3.0.4, section 4.7.24 and section 4.7.23).
 */
export const asOpenApi31 = <Document extends { openapi: string }>(document: Document): Document =>
  document.openapi.startsWith('3.0.') ? (translate(document) as Document) : document

function translate(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(translate)
  if (typeof node !== 'object' || node === null) return node
  if ('$ref' in node && typeof node.$ref === 'string') return { $ref: node.$ref }
  const copy = mapped(node, (value, key) => {
    if (maps.includes(key)) return mapped(value as object, translate)
    return values.includes(key) ? value : translate(value)
  })
  if (copy.nullable === true && typeof copy.type === 'string') copy.type = [copy.type, 'null']
  if (typeof copy.nullable === 'boolean') delete copy.nullable
  for (const [limit, exclusive] of limits) {
    if (typeof copy[exclusive] !== 'boolean') continue
    if (copy[exclusive] && limit in copy) {
      copy[exclusive] = copy[limit]
      delete copy[limit]
    } else delete copy[exclusive]
  }
  return copy
}

const limits = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const

const mapped = (node: object, map: (value: unknown, key: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, map(value, key)]))
