import { type Schema, schemaKeywords } from '../contract/schema-keywords.ts'
import { exactKeyword, isIgnored, linearKeyword, mixedFormat } from './exact-keywords.ts'

type Node = Record<string, unknown>

/** A version of JSON Schema: the URI of its metaschema, the keyword of shared schemas, and how a schema is written. */
type Dialect = { $schema: string; definitions: string; write(node: Node): Node }

const dialects: Record<string, Dialect> = {
  'draft-2020-12': {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    definitions: '$defs',
    write: (node) => node,
  },
  'draft-07': { $schema: 'http://json-schema.org/draft-07/schema#', definitions: 'definitions', write: asDraft07 },
}

/**
 * Returns a schema of the document in a version of JSON Schema, with the shared schemas that it refers to. Properties
 * that requests ignore are left out, and so are limits and enums that a double cannot hold. Throws an error for an
 * unknown target, and for a keyword that the target does not have.
 */
export function jsonSchema(schemas: Record<string, Schema>, schema: Schema, target: string): Node {
  const dialect = Object.hasOwn(dialects, target) ? dialects[target] : undefined
  if (dialect === undefined)
    throw new Error(`unsupported target ${JSON.stringify(target)}; use ${Object.keys(dialects).join(' or ')}`)
  const { $schema, definitions, write } = dialect
  const shared = new Map<string, unknown>()
  const root = convert(withoutReference(schemas, schema)) as Node | boolean
  // Iteration over a Map includes the entries that are added meanwhile.
  for (const name of shared.keys()) shared.set(name, convert(schemas[name] as Schema))
  const whole = typeof root === 'boolean' ? (root ? {} : { not: {} }) : root
  return { $schema, ...whole, ...(shared.size > 0 && { [definitions]: Object.fromEntries(shared) }) }

  function convert(node: Schema): unknown {
    if (typeof node === 'boolean') return node
    const converted: [string, unknown][] = []
    for (const [keyword, value] of Object.entries(node)) {
      if (keyword === '$ref') converted.push([keyword, referenceTo(String(value).slice(0, -1))])
      else if (keyword === linearKeyword) converted.push(['pattern', value])
      // Beside an exact keyword, the plain one has rounded values.
      else if (!isOfService(keyword, value) && !Object.hasOwn(node, exactKeyword(keyword)))
        converted.push([keyword, convertedValue(keyword, value)])
    }
    return write(Object.fromEntries(converted))
  }

  function referenceTo(name: string): string {
    if (!shared.has(name)) shared.set(name, undefined)
    return `#/${definitions}/${name}`
  }

  function convertedValue(keyword: string, value: unknown): unknown {
    switch (schemaKeywords[keyword]) {
      case 'one':
        return convert(value as Schema)
      case 'list':
        return (value as Schema[]).map(convert)
      case 'map': {
        const members = Object.entries(value as Record<string, Schema>)
        return Object.fromEntries(members.filter(isDescribed).map(([name, each]) => [name, convert(each)]))
      }
      default:
        return value
    }
  }
}

const isDescribed = ([, schema]: [string, Schema]): boolean => !isIgnored(schema)

/** Returns whether a keyword means something to this service only. */
const isOfService = (keyword: string, value: unknown): boolean =>
  keyword.startsWith('x-') || keyword === 'discriminator' || (keyword === 'format' && value === mixedFormat)

/** Returns the schema that a lone reference refers to: some readers want the type of the root at the root. */
function withoutReference(schemas: Record<string, Schema>, schema: Schema): Schema {
  const { $ref, ...others } = Object(schema)
  return typeof $ref === 'string' && Object.keys(others).length === 0 ? (schemas[$ref.slice(0, -1)] as Schema) : schema
}

/** Keywords that draft-07 does not have, and that no keyword of draft-07 can express. */
const newKeywords = ['unevaluatedItems', 'unevaluatedProperties', 'minContains', 'maxContains']

/** Writes a schema in the keywords of draft-07, which ignores what is beside a `$ref`. */
function asDraft07(node: Node): Node {
  const missing = newKeywords.find((keyword) => Object.hasOwn(node, keyword))
  if (missing !== undefined) throw new Error(`${missing} cannot be expressed in draft-07; use draft-2020-12`)
  const { $ref, prefixItems, items, dependentRequired, dependentSchemas, dependencies, ...rest } = node
  const dependent = [dependencies, dependentRequired, dependentSchemas].filter((each) => each !== undefined)
  const [only, ...others] = dependent.map((each) => ({ dependencies: each }))
  const written = {
    ...rest,
    ...(prefixItems === undefined ? items !== undefined && { items } : { items: prefixItems }),
    ...(prefixItems !== undefined && items !== undefined && { additionalItems: items }),
    ...only,
  }
  const parts = [...($ref === undefined ? [] : [{ $ref }]), ...others]
  if (parts.length === 0) return written
  const isAlone = Object.keys(written).length === 0 && parts.length === 1
  return isAlone ? (parts[0] as Node) : { allOf: [...parts, written] }
}
