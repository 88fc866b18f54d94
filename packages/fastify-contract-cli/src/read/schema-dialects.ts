import { isDocumentation } from 'fastify-contract/contract'
import { isNode, type Node, withoutKeys } from '../document/walk-document.ts'
import type { Source } from './read-source.ts'

/** A version of JSON Schema before 2020-12, by the number of its draft; that of 2019-09 is 8. */
type Draft = 4 | 6 | 7 | 8

const drafts: Record<string, Draft> = {
  'https://json-schema.org/draft-04/schema': 4,
  'https://json-schema.org/draft-06/schema': 6,
  'https://json-schema.org/draft-07/schema': 7,
  'https://json-schema.org/draft/2019-09/schema': 8,
}

/**
 * The dialect that OpenAPI 3.1 assumes for schemas (section 4.8.24.5), JSON Schema 2020-12, and the URI that once meant
 * the newest version.
 */
const current = new Set([
  'https://json-schema.org/draft/2020-12/schema',
  'https://json-schema.org/schema',
  'https://spec.openapis.org/oas/3.1/dialect/base',
  'https://spec.openapis.org/oas/3.1/dialect/2024-11-10',
  'https://spec.openapis.org/oas/3.2/dialect/2025-09-17',
])

const plain = (uri: string): string => uri.replace(/^http:/, 'https:').replace(/#$/, '')

/** Returns whether schemas of a dialect are served. */
export const isServedDialect = (uri: string): boolean => current.has(plain(uri)) || draftOf(uri) !== undefined

/** Returns the version of JSON Schema whose schemas must be translated; undefined for any other dialect. */
export const draftOf = (uri: string | undefined): Draft | undefined =>
  uri !== undefined && Object.hasOwn(drafts, plain(uri)) ? drafts[plain(uri)] : undefined

/**
 * Returns a function that returns the dialect of a schema of a file: the `$schema` of the closest object that holds it,
 * and the pointer to that object.
 */
export function dialectsIn({ text, value }: Source): (keys: string[]) => { uri: string; depth: number } | undefined {
  if (!text.includes('$schema') && !text.includes('jsonSchemaDialect')) return () => undefined
  return function dialectAt(keys) {
    const { jsonSchemaDialect, openapi } = Object(value)
    const isNamed = typeof jsonSchemaDialect === 'string' && !String(openapi).startsWith('3.0.')
    let found = isNamed ? { uri: jsonSchemaDialect, depth: -1 } : undefined
    let node: unknown = value
    for (let depth = 0; isNode(node) || Array.isArray(node); depth++) {
      const { $schema } = node as Node
      if (typeof $schema === 'string') found = { uri: $schema, depth }
      const key = keys[depth]
      if (key === undefined) break
      node = Object.hasOwn(node, key) ? (node as Node)[key] : undefined
    }
    return found
  }
}

/** Siblings of a $ref that assert nothing, so that they may stay where an earlier draft ignores them. */
const harmless = ['$ref', '$schema', 'definitions', '$defs']

/**
 * Returns a schema of an earlier draft as a schema of JSON Schema 2020-12 with the same meaning. Its subschemas are not
 * translated. A keyword that a later draft has added keeps its meaning.
 *
 * @param countsItems Whether a schema of the document has `unevaluatedItems`.
 */
export function translated(schema: Node, draft: Draft, countsItems: boolean): Node {
  if (draft < 8 && typeof schema.$ref === 'string')
    return Object.fromEntries(
      Object.entries(schema).filter(([name]) => harmless.includes(name) || isDocumentation(name)),
    )
  const plain = withDependentRequired(withPrefixItems(draft === 4 ? withNumericLimits(withIdentifier(schema)) : schema))
  return countsItems ? withoutEvaluatedItems(plain) : plain
}

/**
 * Writes `contains` so that it evaluates no items, as before JSON Schema 2020-12 (core, section 10.3.1.3): what is below
 * `not` evaluates nothing.
 */
function withoutEvaluatedItems(schema: Node): Node {
  if (!Object.hasOwn(schema, 'contains')) return schema
  const keywords = ['contains', 'minContains', 'maxContains'].filter((keyword) => Object.hasOwn(schema, keyword))
  const { allOf = [] } = schema
  const moved = { not: { not: Object.fromEntries(keywords.map((keyword) => [keyword, schema[keyword]])) } }
  return Array.isArray(allOf) ? { ...withoutKeys(schema, keywords), allOf: [...allOf, moved] } : schema
}

/** Writes the `id` beside a `$schema` as `$id`, its name since draft 6. */
function withIdentifier(schema: Node): Node {
  const { id, ...rest } = schema
  return typeof id === 'string' && Object.hasOwn(rest, '$schema') ? { $id: id, ...rest } : schema
}

/** Writes a list of `items` as `prefixItems`, and `additionalItems` as `items` (core, appendix G, of 2020-12). */
export function withPrefixItems(schema: Node): Node {
  if (!Array.isArray(schema.items)) return withoutKeys(schema, ['additionalItems'])
  const { items, additionalItems, ...rest } = schema
  return {
    ...rest,
    ...(items.length > 0 && { prefixItems: items }),
    ...(additionalItems !== undefined && { items: additionalItems }),
  }
}

const limits = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const

/** Writes `exclusiveMinimum` and `exclusiveMaximum` as numbers, which were flags in draft 4 and in OpenAPI 3.0. */
export function withNumericLimits(schema: Node): Node {
  let changed = schema
  for (const [limit, exclusive] of limits) {
    if (typeof changed[exclusive] !== 'boolean') continue
    const { [limit]: value, [exclusive]: isExclusive, ...rest } = changed
    changed = value === undefined ? rest : { ...rest, [isExclusive ? exclusive : limit]: value }
  }
  return changed
}

/**
 * Returns a schema whose `dependencies` are schemas only: a list of names is the keyword `dependentRequired` since
 * JSON Schema 2019-09.
 */
export function withDependentRequired(schema: Node): Node {
  const { dependencies, dependentRequired } = schema
  if (!isNode(dependencies)) return schema
  const lists = Object.entries(dependencies).filter(([, value]) => Array.isArray(value))
  if (lists.length === 0) return schema
  const names = lists.map(([name]) => name)
  const others = withoutKeys(dependencies, names)
  const all = new Map(Object.entries(Object(dependentRequired) as Record<string, unknown>))
  for (const [name, list] of lists) all.set(name, [...new Set([all.get(name) ?? [], list].flat())])
  return {
    ...withoutKeys(schema, ['dependencies']),
    ...(Object.keys(others).length > 0 && { dependencies: others }),
    dependentRequired: Object.fromEntries(all),
  }
}
