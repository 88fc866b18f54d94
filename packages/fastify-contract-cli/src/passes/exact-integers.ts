import { inPlaceKeywords, schemaKeywords } from 'fastify-contract/contract'
import { withDoubles } from 'fastify-contract/json'
import { comparedKeywords, exactKeyword, mixedFormat } from 'fastify-contract/schema'
import { join } from '../document/json-pointer.ts'
import {
  isBigint,
  isExactInteger,
  isFraction,
  isInt64,
  isInteger,
  membersOf,
  numbersOf,
  reachability,
  schemaKeys,
  schemasDescribing,
  unnamedKeywords,
  unnamedSchemas,
} from '../document/schemas.ts'
import {
  type At,
  hasAny,
  type Kind,
  mapDocument,
  memberOf,
  type Node,
  walk,
  walkObjects,
  walkSchemas,
} from '../document/walk-document.ts'

/** Returns whether a value is an integer that a double does not hold: a bigint, or a double that may be rounded. */
const isWide = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || (Number.isInteger(value) && !Number.isSafeInteger(value))

/** Keywords whose value or values a schema allows. */
const valueKeywords = ['const', 'enum']

/**
 * Returns a schema without bigints: it has exact keywords beside `const` and `enum`, and instead of limits and
 * `multipleOf`.
 */
export function withExactKeywords(schema: Node): Node {
  const entries: [string, unknown][] = []
  for (const [keyword, value] of Object.entries(schema)) {
    const digits = digitsOf(schema, keyword)
    if (digits === undefined || valueKeywords.includes(keyword))
      entries.push([keyword, memberOf('schema', keyword) === undefined ? withDoubles(value).value : value])
    if (digits !== undefined) entries.push([exactKeyword(keyword), digits])
  }
  return Object.fromEntries(entries)
}

/** Returns the value of the exact keyword for a keyword of a schema; undefined if it has none. */
function digitsOf(schema: Node, keyword: string): string | undefined {
  if (!comparedKeywords.includes(keyword) || isFraction(schema)) return undefined
  if (valueKeywords.includes(keyword) && !isInt64(schema)) return undefined
  const integers = [schema[keyword]].flat().filter(isInteger)
  const wide = integers.filter(isWide)
  return wide.length > 0 && wide.every((value) => typeof value === 'bigint') ? integers.join() : undefined
}

/**
 * Returns a document in which an integer is an int64 wherever another schema of the same value makes it one, and in which
 * the integers of a number are bigints there: neither a handler nor a client could tell which of the schemas applies, and
 * a value may have to satisfy both.
 */
export function withExactUnions<Document extends object>(document: Document): Document {
  const mixed = mixedIntegers(document)
  if (mixed.size === 0) return document
  const changed = new Set<Node>()
  const copy = mapDocument(document, { schema: (node, given) => (mixed.has(given) ? exact(node) : node) })
  copies.set(Object(Object(copy).info), { copy, changed })
  return copy

  function exact(node: Node): Node {
    const limits = isExactInteger(node) && node.format === 'int32' && int32Limits(node)
    const schema = { ...node, ...limits, format: isFraction(node) ? mixedFormat : 'int64' }
    changed.add(schema)
    return schema
  }
}

/** What `withExactUnions` has changed, by the `info` of the copy, which no later pass copies. */
const copies = new WeakMap<object, { copy: object; changed: Set<Node> }>()

/** Returns the pointers of the schemas that `withExactUnions` has changed in a document. */
export function exactUnions({ info }: { info: object }): string[] {
  const { copy, changed } = copies.get(info) ?? {}
  const pointers: string[] = []
  if (copy !== undefined)
    walkSchemas(copy, (schema, at) => {
      if (changed?.has(schema)) pointers.push(at())
    })
  return pointers
}

const int32Limits = (schema: Node) => ({
  minimum: Math.max(-(2 ** 31), ...numbersOf([schema], 'minimum')),
  maximum: Math.min(2 ** 31 - 1, ...numbersOf([schema], 'maximum')),
})

/** Returns the schemas of numbers that describe a value together with an int64, or with another one of these. */
function mixedIntegers(document: object): Set<Node> {
  const values = wholeValues(document)
  const mixed = new Set<Node>()
  for (let size = -1; size < mixed.size; ) {
    size = mixed.size
    addMixed(document, values, mixed)
  }
  return mixed
}

/** Keywords by which a schema says that a value is a number, or what its members are. */
const describing = ['type', 'properties', 'prefixItems', 'patternProperties', ...unnamedKeywords]

function addMixed(document: object, values: unknown[][], mixed: Set<Node>): void {
  const isExact = (schema: Node) => mixed.has(schema) || isBigint(schema)
  const holdsExact = reachability(document, Object.keys(schemaKeywords), isExact)
  const keyOf = schemaKeys()
  const known = new Set<string>()
  const waiting = [...values]
  // Iteration over an array includes the elements that are added meanwhile.
  for (const holders of waiting) {
    if (!holders.some(holdsExact)) continue
    // A condition tests the same value, too.
    const all = schemasDescribing(document, holders, [...inPlaceKeywords, 'not'])
    const schemas = all.filter((schema) => hasAny(schema, describing))
    const key = keyOf(schemas)
    if (known.has(key)) continue
    known.add(key)
    if (schemas.length > 1 && schemas.some(isExact))
      for (const schema of schemas)
        if ((isExactInteger(schema) || isFraction(schema)) && !isExact(schema)) mixed.add(schema)
    waiting.push(
      ...membersOf(schemas).values(),
      schemas.flatMap((schema) => unnamedSchemas(schema)),
    )
  }
}

/** Returns the schemas of each value of a document; the media types of a response describe one value. */
function wholeValues(document: object): unknown[][] {
  const found: unknown[][] = []
  walkObjects(document, function collectSchemas(node, kind) {
    if (kind === 'mediaType' || kind === 'parameter' || kind === 'header') found.push([node.schema])
    if (kind === 'response')
      found.push(Object.values(Object(node.content) as Record<string, Node>).map(({ schema }) => schema))
  })
  return found
}

/** Members that hold examples, which the service does not use. */
const shownMembers = ['example', 'examples', 'value', 'dataValue']

/**
 * An integer of a document that would be rounded: its pointer, whether it is a part of an example or an extension, and
 * whether the schema that holds it has 64-bit integers.
 */
type RoundedIntegers = { pointer: string; isShown: boolean; isWide: boolean }[]

/** Keywords that count: nothing has so many characters, items or members, so that rounding changes nothing. */
const counts = /^(?:min|max)(?:Length|Items|Properties|Contains)$/

/** Returns whether no integer that is exact is between a limit and its double: those of uint64 are smaller. */
const isBeyondAll = (name: string, limit: unknown): boolean =>
  ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].includes(name) && Math.abs(Number(limit)) > 2 ** 64

/** Returns whether a keyword of a schema means the same although doubles are rounded, or has its digits. */
function isExact(schema: Node, keyword: string): boolean {
  const value = schema[keyword]
  if (counts.test(keyword) || isBeyondAll(keyword, value) || digitsOf(schema, keyword) !== undefined) return true
  return [...comparedKeywords, 'default'].includes(keyword) && isFraction(schema)
}

/** Returns whether a value has an integer at any depth that a double does not hold. */
function holdsWide(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isWide(value)
  for (const key in value) if (holdsWide((value as Node)[key])) return true
  return false
}

/** Returns the keys that lead to some values at and below a value. */
const keysTo = (isFound: (value: unknown) => boolean, value: unknown): string[][] =>
  isFound(value)
    ? [[]]
    : Object.entries(Object(typeof value === 'object' && value)).flatMap(([key, each]) =>
        keysTo(isFound, each).map((below) => [key, ...below]),
      )

/**
 * Returns the integers of a document that would be rounded: not those of schemas whose values are doubles, those of
 * defaults and exact keywords, and limits that mean the same when they are rounded.
 */
export function roundedIntegers(document: object): RoundedIntegers {
  const found: RoundedIntegers = []
  if (!holdsWide(document)) return found
  walk(document as Node, 'document', '#', addFrom)
  return found

  function addFrom(node: Node, kind: Kind, at: At): void {
    for (const [name, value] of Object.entries(node)) {
      if (typeof value === 'string' || typeof value === 'boolean') continue
      if (memberOf(kind, name) !== undefined || (kind === 'schema' && isExact(node, name))) continue
      const isDefault = kind === 'schema' && name === 'default'
      const isFound = isDefault ? (one: unknown) => typeof one === 'number' && isWide(one) : isWide
      const facts = { isShown: isShownIn(kind, name), isWide: isInt64(node) }
      for (const keys of keysTo(isFound, value)) found.push({ pointer: join(at(), name, ...keys), ...facts })
    }
  }
}

const isShownIn = (kind: Kind, name: string): boolean =>
  name.startsWith('x-') || (shownMembers.includes(name) && kind !== 'document')
