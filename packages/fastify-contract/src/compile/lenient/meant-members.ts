import { join } from '../document/json-pointer.ts'
import { isNode, type Kind, memberOf, type Node, nameInCase } from '../document/walk-document.ts'
import { withPrefixItems } from '../read/schema-dialects.ts'
import type { Advise } from '../rules/reports.ts'
import { fieldNames, isField, nameOfKind } from './openapi-fields.ts'

/** Returns an object whose fields have the case of OpenAPI. Reports each of them. */
export function withNamesInCase(node: Node, kind: Kind, pointer: string, advise: Advise): Node {
  const names = Object.keys(node)
  const meant = new Map(
    names.flatMap((name): [string, string][] => {
      const field = isField(kind, name) ? undefined : fieldInCase(kind, name, node[name])
      return field === undefined || nameInCase(names, name) !== undefined ? [] : [[name, field]]
    }),
  )
  for (const [name, field] of meant)
    advise(
      'field-in-another-case',
      join(pointer, name),
      `${name} is not a field of ${nameOfKind(kind)}; read as ${field}; correct it`,
    )
  if (meant.size === 0) return node
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [meant.get(name) ?? name, value]))
}

/** Returns the field that a name means that differs from it in case only. */
function fieldInCase(kind: Kind, name: string, value: unknown): string | undefined {
  const field = nameInCase(fieldNames(kind), name)
  // The files are read before, and without these.
  if (field === undefined || field.startsWith('$')) return undefined
  // A schema may be that of a property, such as Title, whose author forgot `properties`.
  if (kind === 'schema' && isNode(value) && memberOf(kind, field) === undefined) return undefined
  return field === 'security' && opens(value) ? undefined : field
}

/** Returns whether security requirements accept a request without credentials. */
const opens = (value: unknown): boolean =>
  !Array.isArray(value) || value.length === 0 || value.some((one) => Object.keys(Object(one)).length === 0)

/** Returns a schema in which a list of `items`, its form before JSON Schema 2020-12, is `prefixItems`. */
export function withListedItems(schema: Node, pointer: string, advise: Advise): Node {
  if (!Array.isArray(schema.items) || Object.hasOwn(schema, 'prefixItems')) return schema
  const hasMore = Object.hasOwn(schema, 'additionalItems')
  const text =
    schema.items.length === 0
      ? 'is an empty list, and ignored; remove it'
      : `is a list; read as prefixItems${hasMore ? ', and additionalItems as items' : ''}; rename it for JSON Schema 2020-12`
  advise('list-of-items', join(pointer, 'items'), text)
  return withPrefixItems(schema)
}
