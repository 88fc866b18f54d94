import { keysOf } from '../../document/json-pointer.ts'
import type { Document } from '../../document/openapi-document.ts'
import { isExtension, type Kind, type Member, memberOf, type Node } from '../../document/walk-document.ts'
import type { Advise } from '../../reports/reports.ts'

/** The members of objects that change nothing for a service, besides examples. */
const needless: Partial<Record<Kind, string[]>> = {
  document: ['info', 'tags', 'externalDocs'],
  components: ['links', 'examples'],
  operation: ['externalDocs'],
  response: ['links'],
  parameter: ['examples'],
  header: ['examples'],
  mediaType: ['examples'],
  schema: ['externalDocs', 'xml'],
}

/**
 * Returns a bundled document without the references without a target that a service does not need. Reports each of them.
 *
 * @param unresolved What is wrong with the references without a target, by the pointers of the objects that have them.
 */
export function withoutNeedlessReferences(
  document: Document,
  unresolved: ReadonlyMap<string, { text: string }>,
  advise: Advise,
): Document {
  const lost = [...unresolved].filter(([pointer]) => isNeedless(pointer))
  for (const [pointer, { text }] of lost) advise('needless-reference', pointer, `${text}; until then, it is left out`)
  // The later items of a list come first, so that the places of the others stay the same.
  return lost.reverse().reduce<unknown>((rest, [pointer]) => without(rest, keysOf(pointer)), document) as Document
}

/** Returns whether a location is in a member that changes nothing for a service. */
export function isNeedless(pointer: string): boolean {
  let found: Member = { shape: 'one', kind: 'document' }
  for (const key of keysOf(pointer)) {
    if (found.shape !== 'one') {
      if (isExtension(found, key)) return false
      found = { shape: 'one', kind: found.kind }
      continue
    }
    if (needless[found.kind]?.includes(key)) return true
    const member = memberOf(found.kind, key)
    if (member === undefined) return false
    found = member
  }
  return false
}

function without(value: unknown, [key = '', ...below]: string[]): unknown {
  if (Array.isArray(value))
    return value.flatMap(function replaceItem(each, index) {
      if (String(index) !== key) return [each]
      return below.length === 0 ? [] : [without(each, below)]
    })
  const entries = Object.entries(value as Node).flatMap(function replaceMember([name, held]): [string, unknown][] {
    if (name !== key) return [[name, held]]
    return below.length === 0 ? [] : [[name, without(held, below)]]
  })
  return Object.fromEntries(entries)
}
