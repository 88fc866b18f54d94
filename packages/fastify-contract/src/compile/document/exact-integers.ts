import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { exactKeyword, limitKeywords } from '../../serve/exact-keywords.ts'
import { inPlaceKeywords } from '../../serve/schema-keywords.ts'
import { join } from './json-pointer.ts'
import {
  int64Holders,
  isExactInteger,
  isInt64,
  membersOf,
  numbersOf,
  schemasDescribing,
  unnamedSchemas,
} from './schemas.ts'
import { type Kind, mapDocument, memberOf, type Node, walk } from './walk-document.ts'

/** The exact values of integers that JSON.parse has rounded, by their doubles. */
export type ExactIntegers = ReadonlyMap<number, bigint>

const isRounded = (value: unknown): value is number => Number.isInteger(value) && !Number.isSafeInteger(value)

/**
 * Finds the digits of the integers of a bundled document in its source files, since the bundler rounds them. Leaves out
 * an integer whose double stands for several integers in these files.
 */
export async function exactIntegers(bundled: object, path: string): Promise<ExactIntegers> {
  if (roundedIntegers(bundled).length === 0) return new Map()
  const found = new Map<number, Set<bigint>>()
  const files = new Set([resolve(path)])
  // Iteration over a Set includes the elements that are added meanwhile.
  for (const file of files) {
    // The bundler reports a file that is missing.
    const text = await readFile(file, 'utf8').catch(() => '')
    for (const [digits] of text.matchAll(/-?\d{16,}/g)) {
      const double = Number(digits)
      found.set(double, (found.get(double) ?? new Set()).add(BigInt(digits)))
    }
    for (const [, reference = ''] of text.matchAll(/\$ref['"]?\s*:\s*['"]?([^'"#\s,}]+)/g)) {
      files.add(resolve(dirname(file), decodeURIComponent(reference)))
    }
  }
  return new Map(
    Array.from(found).flatMap(([double, [integer = 0n, ...others]]) =>
      others.length === 0 ? [[double, integer] as const] : [],
    ),
  )
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

/** Returns whether values of a schema are compared as doubles, like its limits. */
const hasDoubles = ({ type }: Node): boolean => [type].flat().includes('number')

const exactKeywords = new Set(limitKeywords.map(exactKeyword))

/**
 * Returns a document of OpenAPI 3.1 in which an exact keyword replaces each limit of an integer that a double cannot
 * hold.
 */
export const withExactLimits = <Document extends object>(document: Document, integers: ExactIntegers): Document =>
  mapDocument(document, {
    schema(schema) {
      // Most schemas have no limit; a copy of each would be a copy of the document.
      if (!Object.keys(schema).some((keyword) => limitKeywords.includes(keyword) || exactKeywords.has(keyword)))
        return schema
      return Object.fromEntries(
        Object.entries(schema).flatMap(([keyword, value]) => {
          if (exactKeywords.has(keyword)) return []
          const integer =
            limitKeywords.includes(keyword) && !hasDoubles(schema) ? integers.get(value as number) : undefined
          return [integer === undefined ? [keyword, value] : [exactKeyword(keyword), String(integer)]]
        }),
      )
    },
  })

/**
 * Returns a document in which an integer is an int64 wherever another schema of the same value makes it one: neither a
 * handler nor a client could tell which of the schemas applies, and a value may have to satisfy both.
 */
export function withExactUnions<Document extends object>(document: Document): Document {
  if (mixedIntegers(document).size === 0) return document
  // A copy with the same shared schemas, which the loop changes in place.
  const copy = structuredClone(document)
  for (let mixed = mixedIntegers(copy); mixed.size > 0; mixed = mixedIntegers(copy)) {
    for (const schema of mixed)
      Object.assign(schema, { ...(schema.format === 'int32' && int32Limits(schema)), format: 'int64' })
  }
  return copy
}

const int32Limits = (schema: Node) => ({
  minimum: Math.max(-(2 ** 31), ...numbersOf([schema], 'minimum')),
  maximum: Math.min(2 ** 31 - 1, ...numbersOf([schema], 'maximum')),
})

/** Returns the schemas of integers that describe a value together with an int64. */
function mixedIntegers(document: object): Set<Node> {
  const waiting = wholeValues(document)
  const holdsInt64 = int64Holders(document)
  const identities = new Map<Node, number>()
  const identity = (schema: Node) => {
    if (!identities.has(schema)) identities.set(schema, identities.size)
    return identities.get(schema) as number
  }
  const known = new Set<string>()
  const mixed = new Set<Node>()
  // Iteration over an array includes the elements that are added meanwhile.
  for (const holders of waiting) {
    // A condition tests the same value, too.
    const schemas = schemasDescribing(document, holders, [...inPlaceKeywords, 'not'])
    if (!schemas.some(holdsInt64)) continue
    const key = schemas.map(identity).join()
    if (known.has(key)) continue
    known.add(key)
    if (schemas.some(isInt64)) {
      for (const schema of schemas) if (isExactInteger(schema) && !isInt64(schema)) mixed.add(schema)
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

/** A rounded integer of a document: its pointer, and whether it is a part of an example or an extension. */
type RoundedIntegers = { pointer: string; isShown: boolean }[]

/** Returns the rounded integers of a document, except limits of schemas whose values are doubles. */
export function roundedIntegers(document: object): RoundedIntegers {
  const found: RoundedIntegers = []
  const below = (value: unknown, pointer: string, isShown: boolean): void => {
    if (isRounded(value)) found.push({ pointer, isShown })
    if (typeof value !== 'object' || value === null) return
    for (const [key, each] of Object.entries(value)) below(each, join(pointer, key), isShown)
  }
  walk(document as Node, 'document', '#', (node, kind, pointer) => {
    for (const [name, value] of Object.entries(node)) {
      const isLimit = kind === 'schema' && limitKeywords.includes(name) && hasDoubles(node)
      if (memberOf(kind, name) === undefined && !isLimit) below(value, join(pointer, name), isShownIn(kind, name))
    }
  })
  return found
}

const isShownIn = (kind: Kind, name: string): boolean =>
  name.startsWith('x-') || (shownMembers.includes(name) && kind !== 'document')
