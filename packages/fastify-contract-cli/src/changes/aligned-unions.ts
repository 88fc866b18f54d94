import { isDeepStrictEqual } from 'node:util'
import { isDocumentation } from 'fastify-contract/contract'
import { join } from '../document/json-pointer.ts'
import { type At, mapTree, type Node, walkSchemas, withoutKeys } from '../document/walk-document.ts'
import { pointersAbove, pointersIn } from './merge-parts.ts'
import { type PointerMap, pointerMap } from './pointer-map.ts'

/**
 * The keyword that tells `oneOf` from `anyOf` in unions that are compared, whose schemas are all in the same keyword.
 */
export const unionMark = 'x-union-keyword'

/**
 * Rewrites two documents in place, so that their unions can be compared. redocly diff compares a union with a union
 * only. So a schema that became one of several, or that is left of several, becomes a union of one schema, and `oneOf`
 * and `anyOf` become the same keyword. Returns the earlier pointers in each document.
 */
export function alignUnions(older: object, newer: object): [PointerMap, PointerMap] {
  const [before, after] = [sideOf(older), sideOf(newer)]
  const others = new Map<string, Node>()
  walkSchemas(newer, (schema, at) => others.set(at(), schema))
  function align(schema: Node, at: At): void {
    const pointer = at()
    const other = others.get(pointer)
    if (other === undefined || before.isTarget(pointer) || after.isTarget(pointer)) return
    const [one, two] = [unionKeyword(schema), unionKeyword(other)]
    if (one === undefined && two !== undefined) wrap(schema, other[two], two, pointer, before.origins)
    if (two === undefined && one !== undefined) wrap(other, schema[one], one, pointer, after.origins)
    if (one === undefined || two === undefined || one === two) return
    after.origins.set(join(pointer, one), [join(pointer, two)])
    other[one] = other[two]
    delete other[two]
    for (const [node, keyword] of [[schema, one] as const, [other, two] as const]) node[unionMark] = keyword
  }

  walkSchemas(older, align)
  return [before.origins, after.origins]
}

/** Returns a record of what moves in a document, and whether a reference leads below a pointer, which then stays. */
function sideOf(document: object) {
  const targets = new Set(pointersIn(document).flatMap(pointersAbove))
  return { origins: pointerMap(), isTarget: (pointer: string) => targets.has(pointer) }
}

/** Returns the keyword of a schema that only is a union. */
function unionKeyword(schema: Node): string | undefined {
  const keywords = Object.keys(schema).filter((key) => !isDocumentation(key) && key !== 'discriminator')
  const [keyword = '', second] = keywords
  return second === undefined && /^(one|any)Of$/.test(keyword) && Array.isArray(schema[keyword]) ? keyword : undefined
}

/** Replaces a schema by a union of one schema if the alternatives of a union contain it. */
function wrap(schema: Node, alternatives: unknown, keyword: string, pointer: string, origins: PointerMap): void {
  const own = withoutText(schema)
  if (!(alternatives as unknown[]).some((alternative) => isDeepStrictEqual(withoutText(alternative), own))) return
  const copy = { ...schema }
  for (const key of Object.keys(schema)) delete schema[key]
  schema[keyword] = [copy]
  origins.set(join(pointer, keyword, '0'), [pointer])
}

/** Returns a schema without its documentation, at any depth. */
export const withoutText = (schema: unknown): unknown =>
  mapTree(schema, 'schema', { schema: (node) => withoutKeys(node, Object.keys(node).filter(isDocumentation)) })
