import { isDeepStrictEqual } from 'node:util'
import { join, resolve } from '../generate/json-pointer.ts'
import { isNode, type Node } from '../generate/walk-document.ts'
import { targetOf } from './schema-references.ts'

/** A schema by its pointer; it is shared when a $ref led there, because it then stands in another place, too. */
export type Source = { pointer: string; shared: boolean }

/** A schema without its allOf and its $ref. */
export type Part = Source & { own: Node }

/**
 * Returns the parts that a value must all satisfy to satisfy some schemas: the schemas, what their $ref lead to, and the
 * members of their allOf, at any depth (JSON Schema 2020-12, core, sections 8.2.3.1 and 10.2.1.1); none where that is an
 * endless recursion, or leads out of the document. Each schema is a part once, however many ways lead to it.
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

/** Returns the sources without those that are the same schema as an earlier one. */
export const distinctSources = (document: object, sources: Source[]): Source[] =>
  sources.filter(({ pointer }, index) => {
    const schema = resolve(document, pointer)
    return sources.slice(0, index).every((earlier) => !isDeepStrictEqual(resolve(document, earlier.pointer), schema))
  })
