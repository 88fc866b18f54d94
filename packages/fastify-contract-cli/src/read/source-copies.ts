import { randomUUID } from 'node:crypto'
import { join, keysOf, resolve } from '../document/json-pointer.ts'
import { kindAt } from '../document/walk-document.ts'
import { type Expected, followed, type Reference, type ReferenceVisitor, walkReferences } from './reference-walk.ts'

/** What must change in a file before Redocly reads it, by the pointers of members. */
export type Edits = {
  /** The members `$ref` and `externalValue` that are data, and all references without a target. */
  data: Set<string>
  /** The references. */
  references: Set<string>
  /** References, with the text by which Redocly finds their targets. */
  texts: Map<string, string>
  /** Identifiers of schemas, which no reference of the copy uses. */
  dropped: Set<string>
}

/** Returns edits that change nothing. */
export const noEdits = (): Edits => ({ data: new Set(), references: new Set(), texts: new Map(), dropped: new Set() })

/** Returns what precedes the names of marked members. Extensions have any content, so these names are valid there. */
export const newMark = (): string => `x-${randomUUID()}-`

/** Returns a text without the marks. */
export const withoutMarks = (text: string, mark: string): string => text.replaceAll(mark, '')

/**
 * Returns a value in the form that Redocly reads: it takes every `$ref` and `externalValue` for a reference, so those
 * that are data get a name with `mark` before them, and values of mappings without a target have it before them.
 * `withoutMarks` removes it again. Without `mark` they stay.
 */
export function copyFor(value: unknown, edits: Edits, mark: string | undefined): unknown {
  const copy = (each: unknown, pointer: string): unknown => {
    if (typeof each !== 'object' || each === null) return each
    if (Array.isArray(each)) return each.map((item, index) => copy(item, join(pointer, String(index))))
    const members: [string, unknown][] = []
    for (const [name, held] of Object.entries(each)) {
      const at = join(pointer, name)
      if (edits.dropped.has(at)) continue
      const isData = mark !== undefined && edits.data.has(at)
      if (isData && !followed.includes(name)) members.push([name, `${mark}${held}`])
      else members.push([isData ? mark + name : name, edits.texts.get(at) ?? copy(held, at)])
    }
    return Object.fromEntries(members)
  }
  return isUnchanged(edits, mark) ? value : copy(value, '#')
}

/** Returns whether `copyFor` changes nothing. */
export const isUnchanged = (edits: Edits, mark?: string): boolean =>
  edits.texts.size === 0 && edits.dropped.size === 0 && (mark === undefined || edits.data.size === 0)

/** Returns the members of a bundled document that are data or without a target, though Redocly would follow them. */
function dataIn(document: object): Edits {
  const edits = noEdits()
  const failing: string[] = []
  const visits: Pick<Reference, 'text' | 'expected'>[] = [{ text: '#', expected: { shape: 'one', kind: 'document' } }]
  const visitor: ReferenceVisitor = {
    reference(found) {
      edits.references.add(found.pointer)
      if (isFollowed(found) && !isResolved(document, found)) failing.push(found.pointer)
      if (found.text.startsWith('#/') && !isWalked(found.text, found.expected)) visits.push(found)
    },
    external: (pointer) => edits.data.add(pointer),
    data: (pointer) => edits.data.add(pointer),
    schema: () => {},
  }
  const seen = new Set<string>()
  // Iteration over an array includes the elements that are added meanwhile.
  for (const { text, expected } of visits) {
    const pointer = join('#', ...keysOf(text))
    const key = `${pointer} ${JSON.stringify(expected)}`
    if (seen.has(key)) continue
    seen.add(key)
    walkReferences(resolve(document, pointer), expected, pointer, { uri: 'file:///', pointer: '#' }, visitor)
  }
  for (const pointer of edits.references) edits.data.delete(pointer)
  for (const pointer of failing) edits.data.add(pointer)
  return edits
}

/** The number of references in a chain that are checked: each of them is checked so. */
const chainLimit = 500

/** Returns whether Redocly follows a reference: it takes other values of a mapping for names. */
const isFollowed = ({ isMapping, text }: Reference): boolean => !isMapping || /^(?:#|https?:|\.)|\//.test(text)

/** Returns whether a reference leads to a value other than a reference, and not to one that holds the reference itself. */
function isResolved(document: object, { text, pointer, expected }: Reference): boolean {
  const seen = new Set<string>()
  for (let target = text; ; ) {
    const at = join('#', ...keysOf(target))
    const value = target.startsWith('#') ? resolve(document, at) : undefined
    if (value === undefined || seen.has(at)) return false
    seen.add(at)
    if (expected === 'other' && pointer.startsWith(`${at}/`)) return false
    const { $ref } = Object(value) as { $ref?: unknown }
    if (typeof $ref !== 'string' || seen.size > chainLimit) return true
    target = $ref
  }
}

/** Returns whether the walk of a whole document reaches a location as what is expected there. */
export const isWalked = (pointer: string, expected: Expected): boolean =>
  typeof expected !== 'string' && expected.shape === 'one' && kindAt(keysOf(pointer)) === expected.kind

/**
 * Calls `run` with bundled documents in which nothing that is data looks like a reference to Redocly. `run` returns a
 * text, in which the names of these members are restored.
 */
export async function withMarks(documents: object[], run: (marked: unknown[]) => Promise<string>): Promise<string> {
  const mark = newMark()
  const marked = documents.map((document) => copyFor(document, dataIn(document), mark))
  return withoutMarks(await run(marked), mark)
}
