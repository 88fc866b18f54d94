import { isDeepStrictEqual } from 'node:util'
import { type Schema, schemaKeywords } from 'fastify-contract/contract'
import { resolve } from '../document/json-pointer.ts'
import { byOperationId, type Document, endpoints } from '../document/openapi-document.ts'
import { reachability } from '../document/schemas.ts'
import { isNode, type Node } from '../document/walk-document.ts'
import { lineText } from '../text/source-text.ts'
import {
  type Described,
  type HandlerValue,
  type HandlerValues,
  outerValues,
  valueReader,
  type Work,
} from './handler-values.ts'

/** The number of lines at most, and of the operations that one line names. */
const maxLines = 20
const maxNames = 3

/**
 * The work of one comparison: a unit for each value, with its schemas, members and listed values, and for ten changes
 * of an operation. It takes at most a second of CPU, beside one comparison of the texts of both documents.
 */
const maxWork = 100_000

/**
 * Returns a line for each change in what handlers get and return, for the operations that both documents have. The
 * compiler finds those that a handler must follow, but not a value that it may ignore, and not one that it may leave out.
 * Text for people does not count. Both documents have the form of `normalize`. A schema that many operations share is
 * compared once. Where the work ends, the last line tells how many operations are not compared.
 */
export function handlerChanges(before: Document, after: Document, work: Work = { left: maxWork }): string[] {
  const known = byOperationId(endpoints(before))
  const operations = new Map<string, string[]>()
  const changesOf = outerChanges(before, after, work)
  let skipped = 0
  for (const endpoint of endpoints(after)) {
    const endpointBefore = known.get(endpoint.operationId)
    if (endpointBefore === undefined) continue
    const changes = changesOf(outerValues(before, endpointBefore), outerValues(after, endpoint))
    if (changes === undefined) skipped++
    for (const change of changes ?? []) {
      const names = operations.get(change)
      if (names === undefined) operations.set(change, [endpoint.operationId])
      else names.push(endpoint.operationId)
    }
  }
  const lines = Array.from(operations, ([change, names]) => lineText(`${subjectOf(names)} ${change}`))
  const more = lines.length > maxLines ? [`${lines.length - maxLines} more changes`] : []
  const rest = skipped > 0 ? [`${skipped} more operations are not compared, since too many values changed`] : []
  return [...lines.slice(0, maxLines), ...more, ...rest]
}

/**
 * Returns a function that returns the changes of the outer values of one operation: those of the older values in their
 * order, and then the values that are new. It returns undefined if no work is left.
 */
function outerChanges(before: Document, after: Document, work: Work) {
  const [oldValues, newValues] = [valueReader(before, work), valueReader(after, work)]
  const reachesChange = reachability(after, Object.keys(schemaKeywords), changedSchemas(before, after))
  const areEqual = ofPairs((old: Schema, now: Schema) => isDeepStrictEqual(old, now))
  const comparisons = ofPairs((_old: Schema, _now: Schema) => new Map<string, string[] | undefined>())
  return changesOf

  function changesOf(old: Map<string, Described>, now: Map<string, Described>): string[] | undefined {
    if (work.left <= 0) return undefined
    const found: string[][] = []
    for (const [key, one] of old) {
      const other = now.get(key)
      const isTold = other !== undefined || one.parent === undefined || now.has(one.parent)
      const changes = isTold ? changesOfPair(one, other) : []
      if (changes === undefined) return undefined
      found.push(changes)
    }
    for (const [key, one] of now) {
      if (old.has(key) || (one.parent !== undefined && !old.has(one.parent))) continue
      const changes = changesOfPair(undefined, one)
      if (changes === undefined) return undefined
      found.push(changes)
    }
    const all = found.flat()
    work.left -= all.length / 10
    return all
  }

  function changesOfPair(old: Described | undefined, now: Described | undefined): string[] | undefined {
    const [oldSchema, newSchema] = [schemaOfOuter(before, old), schemaOfOuter(after, now)]
    // The parents are compared by `changesOf`.
    const texts = [old, now].map((one) => one && { ...one, parent: undefined, schemas: [] })
    const [oldText, newText] = texts
    if (isDeepStrictEqual(oldText, newText) && areEqual(oldSchema, newSchema) && !reachesChange(newSchema)) return []
    const known = comparisons(oldSchema, newSchema)
    const key = JSON.stringify(texts)
    if (known.has(key)) return known.get(key)
    const oldMembers = oldValues(oldText && { ...oldText, schemas: [oldSchema] })
    const newMembers = newValues(newText && { ...newText, schemas: [newSchema] })
    const changes = oldMembers && newMembers && [...changesBetween(oldMembers, newMembers)]
    known.set(key, changes)
    return changes
  }
}

/** Returns the one schema of an outer value: the target of a mere reference, which many operations have. */
function schemaOfOuter(document: Document, outer: Described | undefined): Schema {
  const schema = outer?.schemas[0] ?? true
  if (typeof schema === 'boolean' || typeof schema.$ref !== 'string' || Object.keys(schema).length > 1) return schema
  return resolve(document, schema.$ref) as Schema
}

/** Returns a function that is called once for each pair of schemas. */
function ofPairs<Result>(find: (old: Schema, now: Schema) => Result): (old: Schema, now: Schema) => Result {
  const results = new Map<Schema, Map<Schema, Result>>()
  return (old, now) => {
    const ofOld = results.get(old) ?? new Map<Schema, Result>()
    const result = ofOld.has(now) ? (ofOld.get(now) as Result) : find(old, now)
    results.set(old, ofOld.set(now, result))
    return result
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
function* changesBetween(before: HandlerValues, after: HandlerValues): Generator<string> {
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
