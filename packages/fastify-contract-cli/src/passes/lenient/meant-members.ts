import { type At, isNode, type Kind, memberOf, type Node, nameInCase } from '../../document/walk-document.ts'
import { withPrefixItems } from '../../read/schema-dialects.ts'
import type { Advise } from '../../reports/reports.ts'
import { fieldNames, isField, nameOfKind } from './openapi-fields.ts'

/** Returns an object whose fields have the case of OpenAPI. Reports each of them. */
export function withNamesInCase(node: Node, kind: Kind, at: At, advise: Advise): Node {
  const names = Object.keys(node)
  if (names.every((name) => isField(kind, name))) return node
  const meant = new Map(
    names.flatMap(function meantMember(name): [string, string][] {
      const field = isField(kind, name) ? undefined : fieldInCase(kind, name, node)
      return field === undefined || nameInCase(names, name) !== undefined ? [] : [[name, field]]
    }),
  )
  for (const [name, field] of meant)
    advise(
      'field-in-another-case',
      at(name),
      `${name} is not a field of ${nameOfKind(kind)}; read as ${field}; correct it`,
    )
  if (meant.size === 0) return node
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [meant.get(name) ?? name, value]))
}

/** Returns the field that a name means that differs from it in case only. */
function fieldInCase(kind: Kind, name: string, node: Node): string | undefined {
  const plain = name.trim()
  const field = plain !== name && isField(kind, plain) ? plain : nameInCase(fieldNames(kind), plain)
  // The files are read before, and without these.
  if (field === undefined || field.startsWith('$')) return undefined
  if (kind === 'schema' && mayBeProperty(node, field, node[name])) return undefined
  return field === 'security' && opens(node[name]) ? undefined : field
}

/** Keywords of an array; beside another type, a schema under their names describes a property. */
const ofArrays = ['items', 'contains']

/**
 * Returns whether a member of a schema may be a property whose author forgot `properties`: many are named type, items or
 * not. A keyword of several words, such as additionalProperties, is the name of no property.
 */
function mayBeProperty({ type }: Node, field: string, value: unknown): boolean {
  if (value === null) return true
  if (!isNode(value) || /[A-Z]/.test(field) || (ofArrays.includes(field) && type === 'array')) return false
  return memberOf('schema', field)?.shape !== 'map'
}

/** Returns whether security requirements accept a request without credentials. */
export const opens = (value: unknown): boolean =>
  !Array.isArray(value) || value.length === 0 || value.some((one) => Object.keys(Object(one)).length === 0)

/** Returns a schema in which a list of `items`, its form before JSON Schema 2020-12, is `prefixItems`. */
export function withListedItems(schema: Node, at: At, advise: Advise): Node {
  if (!Array.isArray(schema.items) || Object.hasOwn(schema, 'prefixItems')) return schema
  const hasMore = Object.hasOwn(schema, 'additionalItems')
  const text =
    schema.items.length === 0
      ? 'is an empty list, and ignored; remove it'
      : `is a list; read as prefixItems${hasMore ? ', and additionalItems as items' : ''}; rename it for JSON Schema 2020-12`
  advise('list-of-items', at('items'), text)
  return withPrefixItems(schema)
}
