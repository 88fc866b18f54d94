import { isDeepStrictEqual } from 'node:util'
import { join, resolve } from '../compile/json-pointer.ts'
import { isNode, type Node } from '../compile/walk-document.ts'
import { targetOf } from './schema-references.ts'

/** The pointer of a schema. `shared` means that it was reached through a $ref, so it is also used elsewhere. */
export type Source = { pointer: string; shared: boolean }

/** A schema without its allOf and its $ref. */
export type Part = Source & { own: Node }

/**
 * Returns the parts that a value must satisfy to satisfy all of the schemas: the schemas, the targets of their $ref,
 * and the members of their allOf, at any depth (JSON Schema 2020-12, core, sections 8.2.3.1 and 10.2.1.1). Each schema
 * is a part once, even if several references reach it. Returns undefined for endless recursion, for the schema `false`,
 * and for a reference to something outside the document.
 */
export function partsOf(document: object, sources: Source[]): Part[] | undefined {
  const parts: Part[] = []
  const open = new Set<string>()
  const done = new Set<string>()

  function collect({ pointer, shared }: Source): boolean {
    if (open.has(pointer)) return false
    if (done.has(pointer)) return true
    const schema = resolve(document, pointer)
    if (schema === true) return true
    if (!isNode(schema)) return false
    const { $ref, allOf = [], ...own } = schema
    if (!Array.isArray(allOf)) return false
    open.add(pointer)
    parts.push({ pointer, shared, own })
    const isWhole =
      ($ref === undefined || (typeof $ref === 'string' && collect({ pointer: targetOf($ref), shared: true }))) &&
      allOf.every((_, index) => collect({ pointer: join(pointer, 'allOf', String(index)), shared }))
    open.delete(pointer)
    done.add(pointer)
    return isWhole
  }

  return sources.every(collect) ? parts : undefined
}

/** Returns the sources without those whose schema equals an earlier one. */
export const distinctSources = (document: object, sources: Source[]): Source[] =>
  sources.filter(({ pointer }, index) => {
    const schema = resolve(document, pointer)
    return sources.slice(0, index).every((earlier) => !isDeepStrictEqual(resolve(document, earlier.pointer), schema))
  })
