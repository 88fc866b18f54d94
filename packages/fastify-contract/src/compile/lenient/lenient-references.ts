import { keysOf } from '../document/json-pointer.ts'
import type { Document } from '../document/openapi-document.ts'
import { expectedAt } from '../read/reference-walk.ts'
import type { Advise } from '../rules/reports.ts'

/** References without a target, by the pointers of the objects that have them. */
export type Unresolved = ReadonlyMap<string, { text: string }>

/** Matches the pointers of what is for people only, and of `info`, which has assumed values. */
const forPeople = /^#\/(?:info|tags|externalDocs|components\/links)(?:\/|$)|\/(?:externalDocs|xml|links\/[^/]+)$/

/** Returns a document without the references to nothing in what a service does not need, and the other references. */
export function withoutIdleReferences(
  document: Document,
  unresolved: Unresolved,
  advise: Advise,
): { document: Document; unresolved: Unresolved } {
  const idle = [...unresolved].filter(([pointer]) => forPeople.test(pointer) && expectedAt(keysOf(pointer)) === 'other')
  for (const [pointer, { text }] of idle)
    advise('idle-reference', pointer, `${text}; a service does not need it, so it is ignored`)
  // Backwards, so that the indexes of a list stay valid, and what is in another one goes first.
  const kept = idle.reduceRight<unknown>((whole, [pointer]) => without(whole, keysOf(pointer)), document)
  const names = new Set(idle.map(([pointer]) => pointer))
  const others = [...unresolved].filter(([pointer]) => !names.has(pointer))
  return { document: kept as Document, unresolved: new Map(others) }
}

/** Returns an object or a list without the value that some keys lead to. */
function without(holder: unknown, [key = '', ...below]: string[]): unknown {
  const entries = Object.entries(holder as object).flatMap(([name, value]): [string, unknown][] => {
    if (name !== key) return [[name, value]]
    return below.length === 0 ? [] : [[name, without(value, below)]]
  })
  return Array.isArray(holder) ? entries.map(([, value]) => value) : Object.fromEntries(entries)
}
