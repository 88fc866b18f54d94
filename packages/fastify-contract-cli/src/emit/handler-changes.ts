import { isDeepStrictEqual } from 'node:util'
import { schemaKeywords } from 'fastify-contract/contract'
import { byOperationId, type Document, endpoints } from '../document/openapi-document.ts'
import { reachability } from '../document/schemas.ts'
import { isNode, type Node } from '../document/walk-document.ts'
import { lineText } from '../text/source-text.ts'
import { type Described, type HandlerValue, type HandlerValues, outerValues, valueReader } from './handler-values.ts'

/** The number of lines at most, and of the operations that one line names. */
const maxLines = 20
const maxNames = 3

/**
 * Returns a line for each change in what handlers get and return, for the operations that both documents have. The
 * compiler finds those that a handler must follow, but not a value that it may ignore, and not one that it may leave out.
 * Text for people does not count. Both documents have the form of `normalize`.
 */
export function handlerChanges(before: Document, after: Document): string[] {
  const known = byOperationId(endpoints(before))
  const operations = new Map<string, string[]>()
  const [oldValues, newValues] = [valueReader(before), valueReader(after)]
  const reachesChange = reachability(after, Object.keys(schemaKeywords), changedSchemas(before, after))
  for (const endpoint of endpoints(after)) {
    const endpointBefore = known.get(endpoint.operationId)
    if (endpointBefore === undefined) continue
    const [old, now] = [outerValues(before, endpointBefore), outerValues(after, endpoint)]
    const same = new Set(old.filter((one) => isSame(one, now)).map(({ key }) => key))
    const changed = ({ key, name }: Described) => name === '' || !same.has(key)
    for (const change of changesOf(oldValues(old.filter(changed)), newValues(now.filter(changed)))) {
      const names = operations.get(change)
      if (names === undefined) operations.set(change, [endpoint.operationId])
      else names.push(endpoint.operationId)
    }
  }
  const lines = Array.from(operations, ([change, names]) => lineText(`${subjectOf(names)} ${change}`))
  if (lines.length <= maxLines) return lines
  return [...lines.slice(0, maxLines), `${lines.length - maxLines} more changes`]

  function isSame(old: Described, all: Described[]): boolean {
    const now = all.find(({ key }) => key === old.key)
    return now !== undefined && isDeepStrictEqual(old, now) && !now.schemas.some(reachesChange)
  }
}

/** Returns a function that tells whether a schema of the components of a document is another one than before. */
function changedSchemas(before: Document, after: Document): (schema: Node) => boolean {
  const [old, now] = [before, after].map(({ components }) => (components as Components | undefined)?.schemas ?? {})
  const changed = new Set<Node>()
  for (const [name, schema] of Object.entries(now as Node))
    if (isNode(schema) && !isDeepStrictEqual(schema, (old as Node)[name])) changed.add(schema)
  return (schema) => changed.has(schema)
}

type Components = { schemas?: Node }

function subjectOf(names: string[]): string {
  if (names.length === 1) return names.join()
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : ''
  return `${names.slice(0, maxNames).join(', ')}${more}: each`
}

/** Yields what changed: the older values in their order, and then the newer ones in theirs. */
function* changesOf(before: HandlerValues, after: HandlerValues): Generator<string> {
  const levels = Math.min(before.levels, after.levels)
  for (const [key, old] of before.values) {
    if (old.level >= levels) continue
    const now = after.values.get(key)
    if (now !== undefined) yield* differences(old, now)
    else if (old.parent === undefined || after.values.has(old.parent)) yield wordsOf(old).removed
  }
  for (const [key, now] of after.values) {
    if (now.level >= levels || before.values.has(key)) continue
    const isInside = now.parent !== undefined && !before.values.has(now.parent)
    if (!isInside) yield wordsOf(now)[now.isRequired ? 'added' : 'addedOptional']
  }
}

function* differences(old: HandlerValue, now: HandlerValue): Generator<string> {
  const words = wordsOf(old)
  if (now.isUndescribed && !old.isUndescribed) return yield words.undescribed
  if (now.isRequired && !old.isRequired) yield words.required
  if (!now.isRequired && old.isRequired) yield words.optional
  if (now.types !== old.types) return yield `${words.has} as ${now.types}, before as ${old.types}`
  const keywords = new Set([...Object.keys(old.limits), ...Object.keys(now.limits)])
  const others = [...keywords].filter((keyword) => !isDeepStrictEqual(old.limits[keyword], now.limits[keyword]))
  if (others.length > 0) yield `${words.has} with another ${others.join(', ')}`
}

/** What the line about a value says, for each kind of change. */
type Words = ReturnType<typeof requestWords>

function wordsOf({ name, status }: HandlerValue): Words {
  if (status === undefined) return requestWords(name)
  const words = responseWords(`${name} for ${status}`)
  if (name !== '') return words
  return { ...words, addedOptional: `can also respond with ${status}`, removed: `can no longer respond with ${status}` }
}

const requestWords = (value: string) => ({
  added: `also receives ${value}`,
  addedOptional: `also receives ${value}, if it is sent`,
  removed: `no longer receives ${value}`,
  required: `always receives ${value}`,
  optional: `receives ${value} only if it is sent`,
  undescribed: `receives ${value}, which the document no longer describes`,
  has: `receives ${value}`,
})

const responseWords = (value: string): Words => ({
  added: `must also return ${value}`,
  addedOptional: `can also return ${value}`,
  removed: `no longer returns ${value}: the document does not describe it`,
  required: `must always return ${value}`,
  optional: `can leave out ${value}`,
  undescribed: `must return ${value}, which the document no longer describes`,
  has: `returns ${value}`,
})
