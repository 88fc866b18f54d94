import { inPlaceKeywords, type Schema, schemaKeywords } from 'fastify-contract/contract'
import { resolve } from '../document/json-pointer.ts'
import { isNode, mapEntries, type Node, withoutKeys } from '../document/walk-document.ts'

/** Keywords whose schemas apply to the value itself. */
const keywords = [...inPlaceKeywords, 'not']

/** The number of schemas that may be copied: a schema that refers to another one twice, and so on, has endless copies. */
const maxCopies = 10_000

/**
 * Returns a schema in which `change` was applied to it and to each schema that describes the same value. Those behind a
 * reference are copied, if they change. The result may allow more: of a changed `oneOf` several alternatives may match, and a
 * changed `if` or `not` decides nothing. Returns undefined for a schema that would need too many copies.
 */
export function changedSchema(document: object, schema: Schema, change: (schema: Node) => Node): Schema | undefined {
  let copies = 0
  const changed = (given: unknown, path: string[]): unknown => {
    if (!isNode(given) || ++copies > maxCopies) return given
    return change(withTarget(withChangedParts(given, path), path))
  }
  const withTarget = (node: Node, path: string[]): Node => {
    const { $ref, ...own } = node
    if (typeof $ref !== 'string' || path.includes($ref)) return node
    const target = resolve(document, $ref)
    const found = changed(target, [...path, $ref])
    return found === target ? node : and(own, found)
  }
  const withChangedParts = (node: Node, path: string[]): Node => {
    const below = mapEntries(node, (held, keyword) =>
      keywords.includes(keyword) ? heldBy(keyword, held, (one) => changed(one, path)) : held,
    )
    let schema = below
    for (const keyword of ['not', 'oneOf', 'if'])
      if (below[keyword] !== node[keyword]) schema = weakened(schema, keyword)
    return schema
  }
  const result = changed(schema, []) as Schema
  return copies > maxCopies ? undefined : result
}

function heldBy(keyword: string, held: unknown, change: (schema: unknown) => unknown): unknown {
  if (schemaKeywords[keyword] === 'one') return change(held)
  if (!Array.isArray(held)) return isNode(held) ? mapEntries(held, change) : held
  const items = held.map(change)
  return items.some((item, index) => item !== held[index]) ? items : held
}

/** Returns a schema that does not reject more because one of its keywords now holds schemas that allow more. */
function weakened(schema: Node, keyword: string): Node {
  if (keyword === 'not') return withoutKeys(schema, ['not'])
  if (keyword === 'oneOf') return and(withoutKeys(schema, ['oneOf']), { anyOf: schema.oneOf })
  if (keyword !== 'if') return schema
  const { then: consequence = true, else: alternative = true } = schema
  return and(withoutKeys(schema, ['if', 'then', 'else']), { anyOf: [consequence, alternative] })
}

const and = (schema: Node, other: unknown): Node =>
  Object.keys(schema).length === 0 ? (other as Node) : { ...schema, allOf: [...[schema.allOf ?? []].flat(), other] }
