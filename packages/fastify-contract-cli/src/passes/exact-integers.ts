import { randomUUID } from 'node:crypto'
import { inPlaceKeywords } from 'fastify-contract/contract'
import { integerOf } from 'fastify-contract/json'
import { comparedKeywords, exactKeyword, integerBounds, isIntegerFormat, mixedFormat } from 'fastify-contract/schema'
import { join } from '../document/json-pointer.ts'
import {
  int64Holders,
  isBigint,
  isExactInteger,
  isFraction,
  isInt64,
  membersOf,
  numbersOf,
  schemaKeys,
  schemasDescribing,
  unnamedSchemas,
} from '../document/schemas.ts'
import { isNode, type Kind, mapDocument, mapEntries, memberOf, type Node, walk } from '../document/walk-document.ts'
import type { Sources } from '../read/source-files.ts'

/**
 * The exact values of integers that JSON.parse has rounded, by their doubles. `several` has those of doubles that stand for
 * several integers.
 */
export type ExactIntegers = ReadonlyMap<number, bigint> & { readonly several?: ReadonlyMap<number, bigint[]> }

const isRounded = (value: unknown): value is number => Number.isInteger(value) && !Number.isSafeInteger(value)

/**
 * Finds the digits of the integers of a bundled document in its source files, since the bundler rounds them. Leaves out
 * an integer whose double stands for several integers in these files.
 */
export const exactIntegers = (bundled: object, { files }: Sources): ExactIntegers =>
  roundedIntegers(bundled).length === 0
    ? new Map()
    : integersIn(...[...files.values()].flatMap((source) => (source === undefined ? [] : [source.text])))

/**
 * Returns the integers beyond 2^53 that texts contain, except those that share a double with another one. One with an
 * exponent, as programs write doubles, counts if no other digits have its double.
 */
export function integersIn(...texts: string[]): ExactIntegers {
  const found = new Map<number, Set<bigint>>()
  const powers = new Map<number, Set<bigint>>()
  for (const [digits] of texts.flatMap((text) => [...text.matchAll(/-?\d+(?:\.\d+)?e\+?\d+|-?\d{16,}/gi)])) {
    const integer = /e/i.test(digits) ? integerOf(digits) : BigInt(digits)
    const all = /e/i.test(digits) ? powers : found
    const double = Number(digits)
    if (integer !== undefined) all.set(double, (all.get(double) ?? new Set()).add(integer))
  }
  const exact = new Map<number, bigint>()
  const several = new Map<number, bigint[]>()
  for (const [double, [integer = 0n, ...others]] of new Map([...powers, ...found])) {
    if (others.length === 0) exact.set(double, integer)
    else several.set(double, [integer, ...others])
  }
  return several.size === 0 ? exact : Object.assign(exact, { several })
}

/**
 * Returns the exact values for a format: also that of a double that stands for one value of the format and for integers
 * beyond it. Tools write 9223372036854775807 also as 9223372036854776000, which is no int64.
 */
function integersOf(format: unknown, integers: ExactIntegers): ReadonlyMap<number, bigint> {
  if (integers.several === undefined || !isIntegerFormat(format)) return integers
  const [least, most] = integerBounds[format]
  const all = new Map(integers)
  for (const [double, values] of integers.several) {
    const [one, ...more] = values.filter((value) => value >= least && value <= most)
    if (one !== undefined && more.length === 0) all.set(double, one)
  }
  return all
}

/** Serializes a document or a value of it as JSON with the digits of its integers. */
export function exactJson(document: unknown, integers: ExactIntegers): string {
  if (integers.size === 0) return JSON.stringify(document, null, 2)
  // JSON.rawJSON would do this, but Node 20 does not have it.
  const mark = randomUUID()
  const marked = (_key: string, value: unknown) => {
    const integer = isRounded(value) ? integers.get(value) : undefined
    return integer === undefined ? value : mark + integer
  }
  return JSON.stringify(document, marked, 2).replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1')
}

/** Returns the text of types with the digits of the integers that their comments show. */
export const withExactDigits = (types: string, integers: ExactIntegers): string =>
  integers.size === 0
    ? types
    : types.replace(/(?<![\w.])-?\d{16,}(?![\w.])/g, (digits) => String(integers.get(Number(digits)) ?? digits))

/** Keywords whose value or values a schema allows. */
const valueKeywords = ['const', 'enum']

/** Keywords whose integers may be beyond 2^53 if their digits are known. */
const exactable = new Set([...comparedKeywords, 'default'])

const exactKeywords = new Set([...exactable].map(exactKeyword))

/**
 * Returns a document of OpenAPI 3.1 in which schemas of integers that a double cannot hold have exact keywords: beside
 * `const`, `enum` and `default`, and instead of limits and `multipleOf`. That of a default is its JSON text.
 */
export const withExactKeywords = <Document extends object>(document: Document, integers: ExactIntegers): Document =>
  mapDocument(document, {
    schema(schema) {
      // Most schemas have no limit; a copy of each would be a copy of the document.
      if (!Object.keys(schema).some((keyword) => exactable.has(keyword) || exactKeywords.has(keyword))) return schema
      return Object.fromEntries(
        Object.entries(schema).flatMap(([keyword, value]) => {
          if (exactKeywords.has(keyword)) return []
          const digits = exactable.has(keyword) ? digitsOf(schema, keyword, integers) : undefined
          const exact = digits === undefined ? [] : [[exactKeyword(keyword), digits]]
          const isReplaced = digits !== undefined && ![...valueKeywords, 'default'].includes(keyword)
          return isReplaced ? exact : [[keyword, value], ...exact]
        }),
      )
    },
  })

/** Returns the value of the exact keyword for a keyword of a schema; undefined if it needs none. */
function digitsOf(schema: Node, keyword: string, integers: ExactIntegers): string | undefined {
  const value = schema[keyword]
  const rounded = roundedIn(value)
  if (rounded.length === 0 || isFraction(schema)) return undefined
  const all = integersOf(schema.format, integers)
  if (!rounded.every((each) => all.has(each))) return undefined
  if (keyword === 'default') return exactJson(value, all)
  if (valueKeywords.includes(keyword) && !isInt64(schema)) return undefined
  const values = keyword === 'enum' ? (value as unknown[]) : [value]
  return values
    .filter((each) => Number.isInteger(each))
    .map((each) => all.get(each as number) ?? each)
    .join()
}

/** Returns the rounded integers of a value. */
const roundedIn = (value: unknown): number[] =>
  isRounded(value)
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(roundedIn)
      : []

/** Returns a value in which each integer that a double cannot hold is a bigint, where its digits are known. */
export function withBigints(value: unknown, integers: ExactIntegers): unknown {
  if (isRounded(value) || typeof value === 'bigint') return integers.get(Number(value)) ?? value
  if (Array.isArray(value)) return value.map((each) => withBigints(each, integers))
  return isNode(value) ? mapEntries(value, (each) => withBigints(each, integers)) : value
}

/**
 * Returns a document in which an integer is an int64 wherever another schema of the same value makes it one, and in which
 * the integers of a number are bigints there: neither a handler nor a client could tell which of the schemas applies, and
 * a value may have to satisfy both.
 */
export function withExactUnions<Document extends object>(document: Document): Document {
  // A copy with the same shared schemas, which the loop changes in place.
  const copy = structuredClone(document)
  let isChanged = false
  for (let mixed = mixedIntegers(copy); mixed.size > 0; mixed = mixedIntegers(copy)) {
    isChanged = true
    for (const schema of mixed)
      if (isFraction(schema)) schema.format = mixedFormat
      else Object.assign(schema, { ...(schema.format === 'int32' && int32Limits(schema)), format: 'int64' })
  }
  return isChanged ? copy : document
}

const int32Limits = (schema: Node) => ({
  minimum: Math.max(-(2 ** 31), ...numbersOf([schema], 'minimum')),
  maximum: Math.min(2 ** 31 - 1, ...numbersOf([schema], 'maximum')),
})

/** Returns the schemas of numbers that describe a value together with an int64. */
function mixedIntegers(document: object): Set<Node> {
  const waiting = wholeValues(document)
  const holdsInt64 = int64Holders(document)
  const keyOf = schemaKeys()
  const known = new Set<string>()
  const mixed = new Set<Node>()
  // Iteration over an array includes the elements that are added meanwhile.
  for (const holders of waiting) {
    // A condition tests the same value, too.
    const schemas = schemasDescribing(document, holders, [...inPlaceKeywords, 'not'])
    if (!schemas.some(holdsInt64)) continue
    const key = keyOf(schemas)
    if (known.has(key)) continue
    known.add(key)
    if (schemas.some(isBigint)) {
      for (const schema of schemas) {
        if ((isExactInteger(schema) || isFraction(schema)) && !isBigint(schema)) mixed.add(schema)
      }
    }
    waiting.push(
      ...membersOf(schemas).values(),
      schemas.flatMap((schema) => unnamedSchemas(schema)),
    )
  }
  return mixed
}

/** Returns the schemas of each value of a document; the media types of a response describe one value. */
function wholeValues(document: object): unknown[][] {
  const found: unknown[][] = []
  walk(document as Node, 'document', '#', (node, kind) => {
    if (kind === 'mediaType' || kind === 'parameter' || kind === 'header') found.push([node.schema])
    if (kind === 'response')
      found.push(Object.values(Object(node.content) as Record<string, Node>).map(({ schema }) => schema))
  })
  return found
}

/** Members that hold examples, which the service does not use. */
const shownMembers = ['example', 'examples', 'value', 'dataValue']

/**
 * A rounded integer of a document: its pointer, whether it is a part of an example or an extension, and whether the
 * schema that holds it has 64-bit integers.
 */
type RoundedIntegers = { pointer: string; isShown: boolean; isWide: boolean }[]

/** Keywords that count: nothing has so many characters, items or members, so that rounding changes nothing. */
const counts = /^(?:min|max)(?:Length|Items|Properties|Contains)$/

/** Returns whether no integer that is exact is between a limit and its double: those of uint64 are smaller. */
const isBeyondAll = (name: string, limit: unknown): boolean =>
  ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].includes(name) && Math.abs(Number(limit)) > 2 ** 64

/**
 * Returns the rounded integers of a document, except those of schemas whose values are doubles, those that an exact
 * keyword has, and limits that mean the same when they are rounded.
 */
export function roundedIntegers(document: object): RoundedIntegers {
  const found: RoundedIntegers = []
  const below = (value: unknown, pointer: string, facts: { isShown: boolean; isWide: boolean }): void => {
    if (isRounded(value)) found.push({ pointer, ...facts })
    if (typeof value !== 'object' || value === null) return
    for (const [key, each] of Object.entries(value)) below(each, join(pointer, key), facts)
  }
  walk(document as Node, 'document', '#', (node, kind, pointer) => {
    for (const [name, value] of Object.entries(node)) {
      const isSame = counts.test(name) || isBeyondAll(name, value) || (exactable.has(name) && isFraction(node))
      if (
        memberOf(kind, name) === undefined &&
        !(kind === 'schema' && isSame) &&
        !Object.hasOwn(node, exactKeyword(name))
      )
        below(value, join(pointer, name), { isShown: isShownIn(kind, name), isWide: isInt64(node) })
    }
  })
  return found
}

const isShownIn = (kind: Kind, name: string): boolean =>
  name.startsWith('x-') || (shownMembers.includes(name) && kind !== 'document')
