import { join } from '../document/json-pointer.ts'
import { isNode, type Kind, memberOf, type Node } from '../document/walk-document.ts'
import type { Advise } from '../rules/reports.ts'
import { fieldNames, isField } from './openapi-fields.ts'

/**
 * Returns an object whose fields have the names of OpenAPI, in place of names in another case or with white space, such
 * as GET and requestbody. A name stays if the object has the field, too.
 */
export function withFieldNames(node: Node, kind: Kind, pointer: string, advise: Advise): Node {
  const taken = new Set(Object.keys(node))
  let isSame = true
  const entries = Object.entries(node).map(([name, value]): [string, unknown] => {
    const field = isField(kind, name) ? undefined : fieldLike(kind, name)
    if (field === undefined || taken.has(field) || mayBeProperty(node, kind, field, value)) return [name, value]
    advise('field-in-another-case', join(pointer, name), `is read as ${field}; correct its name`)
    taken.add(field)
    isSame = false
    return [field, value]
  })
  return isSame ? node : Object.fromEntries(entries)
}

const known = new Map<Kind, Map<string, string>>()

/** Returns the field of a kind that a name is in another case. */
function fieldLike(kind: Kind, name: string): string | undefined {
  const fields = known.get(kind) ?? new Map(fieldNames(kind).map((field) => [field.toLowerCase(), field]))
  known.set(kind, fields)
  return fields.get(name.trim().toLowerCase())
}

/** Keywords of an array; beside another type, a schema under their names describes a property. */
const ofArrays = ['items', 'contains']

/**
 * Returns whether a member of a schema may be a property outside of `properties`: many are named type, items or not. A
 * keyword of several words, such as additionalProperties, is the name of no property.
 */
function mayBeProperty({ type }: Node, kind: Kind, field: string, value: unknown): boolean {
  if (kind !== 'schema') return false
  if (value === null) return true
  if (!isNode(value) || /[A-Z]/.test(field) || (ofArrays.includes(field) && type === 'array')) return false
  return memberOf('schema', field)?.shape !== 'map'
}
