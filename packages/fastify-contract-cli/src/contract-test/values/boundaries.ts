import * as fc from 'fast-check'
import type { Schema } from 'fastify-contract/contract'
import { isIgnored } from 'fastify-contract/schema'
import type { Document } from '../../document/openapi-document.ts'
import { textOfPattern } from '../../document/patterns.ts'
import { alternativesOf } from './alternatives.ts'
import { arrays } from './arrays.ts'
import { formats } from './formats.ts'
import type { Generator } from './generator.ts'
import { integerBoundaries } from './integers.ts'
import { type Json, jsonText, type Members } from './json-notations.ts'
import type { Keywords } from './keywords.ts'
import { numberBoundaries } from './numbers.ts'
import { typesOf } from './types.ts'

/** The longest text, in code points, and the longest array that are made for a bound. */
const maxText = 10_000
const maxItems = 1_000
/** The length of a text that has no limit. */
const unlimitedText = 1_000
/** The maximum number of values of one schema, and of levels below it that are varied. */
const maxValues = 300
const maxLevels = 3
/** The maximum number of listed values that are tried. */
const maxListed = 50

/**
 * Returns values at the bounds of the constraints of a schema, some of which it may reject: those of `enum`, limits of
 * numbers, lengths and sizes, each alternative, null, and objects with and without their optional properties. Other parts
 * of the values are the same each time.
 */
export function boundaryValues(document: Document, generator: Generator, schema: Schema): Json[] {
  const alternatives = alternativesOf(document)
  const found = new Map<string, Json>()
  for (const value of valuesOf(schema, maxLevels)) {
    if (found.size >= maxValues) break
    found.set(jsonText(value), value)
  }
  return [...found.values()]

  function* valuesOf(each: Schema, levels: number): Iterable<Json> {
    for (const branch of attempt(() => generator.branches(each), [])) yield* sampled(branch, 1)
    if (levels === 0) return
    for (const { keywords } of attempt(() => alternatives(each), [])) yield* valuesOfKeywords(keywords, levels)
  }

  function* valuesOfKeywords(keywords: Keywords, levels: number): Iterable<Json> {
    if (keywords.enum !== undefined) {
      yield* keywords.enum.slice(0, maxListed)
      return
    }
    const types = typesOf(keywords)
    if (types.includes('null')) yield null
    if (types.includes('boolean')) yield* [true, false]
    if (types.includes('integer')) yield* integerBoundaries(keywords)
    if (types.includes('number')) yield* numberBoundaries(keywords)
    if (types.includes('string')) yield* textBoundaries(keywords)
    if (types.includes('array')) yield* arrayValues(keywords, levels)
    if (types.includes('object')) yield* objectValues(keywords, levels)
  }

  function* arrayValues(keywords: Keywords, levels: number): Iterable<Json> {
    const { minItems = 0, maxItems: most, items = true } = keywords
    const values = attempt(() => generator.valid(items), undefined)
    yield []
    if (values === undefined) return
    for (const length of [minItems, most]) {
      if (length === undefined || length > maxItems) continue
      const exact = arrays({ ...keywords, minItems: length, maxItems: length }, values)
      if (exact !== undefined) yield* sampled(exact, 1)
    }
    const size = Math.max(minItems, 1)
    const others = sampled(fc.array(values, { minLength: size, maxLength: size }), 1)[0] ?? []
    for (const item of valuesOf(items, levels - 1)) yield [item, ...others.slice(1)]
  }

  function* objectValues(keywords: Keywords, levels: number): Iterable<Json> {
    const { properties = {}, required = [], minProperties = 0, maxProperties } = keywords
    const all: [string, Json][] = []
    for (const [name, each] of Object.entries(properties)) {
      if (isIgnored(each)) continue
      const given = generator.givenValue(name, each)
      const [value] =
        given === undefined
          ? sampled(
              attempt(() => generator.valid(each), undefined),
              1,
            )
          : [given]
      if (value !== undefined) all.push([name, value])
    }
    const needed = all.filter(([name]) => required.includes(name))
    const optional = all.filter(([name]) => !required.includes(name))
    const members = (entries: [string, Json][]): Members => Object.fromEntries(entries)
    yield members(needed)
    yield members(all)
    for (const size of [minProperties, maxProperties])
      if (size !== undefined && size >= needed.length)
        yield members([...needed, ...optional.slice(0, size - needed.length)])
    for (const [name] of all) {
      const each = properties[name] as Schema
      if (generator.givenValue(name, each) !== undefined) continue
      for (const value of valuesOf(each, levels - 1))
        yield members([...needed.filter(([other]) => other !== name), [name, value]])
    }
  }
}

/** Returns texts of the least and the greatest length, those of a pattern, and near ones of a format. */
function textBoundaries({ minLength = 0, maxLength, pattern, format = '' }: Keywords): string[] {
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined
  if (known !== undefined) return sampled(known.values, 3)
  // A text without a limit may be longer than a column of the store.
  const lengths = [minLength, maxLength ?? Math.max(minLength, unlimitedText)].filter((length) => length <= maxText)
  if (pattern === undefined) return lengths.map((length) => 'a'.repeat(length))
  return [0, 1, ...lengths].flatMap((more) => textOfPattern(pattern, Math.min(more, 200)) ?? [])
}

const sampled = <T>(values: fc.Arbitrary<T> | undefined, count: number): T[] =>
  values === undefined ? [] : attempt(() => fc.sample(values, { numRuns: count, seed: 1 }), [])

/** Returns a result, or another one if it cannot be made: the values of a schema may be too rare to find. */
function attempt<T>(make: () => T, otherwise: T): T {
  try {
    return make()
  } catch {
    return otherwise
  }
}
