import * as fc from 'fast-check'
import { filterOrThrow, ofType } from './arbitrary.ts'
import { type Json, withDoubles } from './json-notations.ts'
import type { Keywords } from './keywords.ts'
import type { SchemaViolation } from './schema-violation.ts'

/** The maximum number of items that a generated array has beyond its minItems. */
const more = 4
/** The largest maxItems for which a longer array is generated: a much longer array would exceed the body limit. */
const longest = 1_000

/** The number of arrays that are made until one has enough different items. */
const maxTries = 50

/** Returns arrays that satisfy the keywords, or undefined if there are none. Undefined `items` allow only []. */
export function arrays(keywords: Keywords, items: fc.Arbitrary<Json> | undefined): fc.Arbitrary<Json[]> | undefined {
  const { minItems: minLength = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems = false } = keywords
  if (minLength > maxItems || (minLength > 0 && items === undefined)) return undefined
  if (items === undefined) return fc.constant([])
  const length = { minLength, maxLength: Math.min(maxItems, minLength + more) }
  return uniqueItems ? uniqueArrays(items, length) : fc.array(items, length)
}

/**
 * Returns arrays of different items. Making one throws an error if the items have too few values, for which
 * `fc.uniqueArray` searches without an end.
 */
function uniqueArrays(
  items: fc.Arbitrary<Json>,
  { minLength, maxLength }: { minLength: number; maxLength: number },
): fc.Arbitrary<Json[]> {
  const some = fc.array(items, { minLength: 2 * minLength, maxLength: 2 * maxLength })
  const different = fc
    .tuple(some, fc.integer({ min: minLength, max: maxLength }))
    .map(([array, length]) => [...new Map(array.map((item) => [keyOf(item), item])).values()].slice(0, length))
  return filterOrThrow(different, ({ length }) => length >= minLength, 'unique items', maxTries)
}

/** Returns a text that is the same for values that JSON Schema takes for equal. */
const keyOf = (item: Json): string =>
  JSON.stringify(withDoubles(item), (_, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )

/** Returns arrays that are too short or too long, that repeat an item, or in which one item is invalid. */
export function arrayViolations(
  keywords: Keywords,
  items: fc.Arbitrary<Json> | undefined,
  ofItems: SchemaViolation[],
): SchemaViolation[] {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems = false } = keywords
  const breaches: SchemaViolation[] = []
  const add = (what: string, values: fc.Arbitrary<Json>, where = '') => breaches.push({ where, what, values })
  const any = items ?? ofType.null
  if (minItems > 0) add('too few items', fc.array(any, { maxLength: minItems - 1 }))
  if (maxItems <= longest)
    add('too many items', fc.array(any, { minLength: maxItems + 1, maxLength: maxItems + 1 + more }))
  const some = arrays(keywords, items)
  if (some === undefined || maxItems === 0) return breaches
  if (uniqueItems && items !== undefined && maxItems > 1) {
    const twice = fc.tuple(some, items).map(([array, item]) => [item, item, ...array].slice(0, maxItems))
    add('an item twice', twice)
  }
  for (const { where, what, values } of ofItems) {
    const broken = fc.tuple(some, values, fc.nat()).map(([array, item, number]) => {
      const at = number % Math.min(array.length + 1, maxItems)
      return [...array.slice(0, at), item, ...array.slice(at + 1)]
    })
    add(what, broken, `/items${where}`)
  }
  return breaches
}
