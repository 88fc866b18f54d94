import * as fc from 'fast-check'
import { filterOrThrow } from './arbitrary.ts'
import type { Keywords } from './keywords.ts'
import { rootViolations, type SchemaViolation } from './schema-violation.ts'

const finite = { noNaN: true, noDefaultInfinity: true }

/** Returns the limits of the keywords as doubles. */
function limits(keywords: Keywords) {
  const [minimum, exclusiveMinimum, maximum, exclusiveMaximum] = (
    ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'] as const
  ).map((keyword) => (keywords[keyword] === undefined ? undefined : Number(keywords[keyword])))
  const minExcluded = exclusiveMinimum !== undefined && exclusiveMinimum >= (minimum ?? Number.NEGATIVE_INFINITY)
  const maxExcluded = exclusiveMaximum !== undefined && exclusiveMaximum <= (maximum ?? Number.POSITIVE_INFINITY)
  return {
    min: minExcluded ? exclusiveMinimum : minimum,
    max: maxExcluded ? exclusiveMaximum : maximum,
    minExcluded,
    maxExcluded,
  }
}

/** Returns the numbers at the limits of the keywords, or next to one that is excluded, and zero. */
export function numberBoundaries(keywords: Keywords): number[] {
  const { min, max, minExcluded, maxExcluded } = limits(keywords)
  const multipleOf = keywords.multipleOf === undefined ? undefined : Number(keywords.multipleOf)
  const found: number[] = [0]
  const nearby = (limit: number) => multipleOf ?? Math.max(Math.abs(limit), 1) * 1e-6
  if (min !== undefined) found.push(minExcluded ? min + nearby(min) : min)
  if (max !== undefined) found.push(maxExcluded ? max - nearby(max) : max)
  if (multipleOf !== undefined) {
    found.push(multipleOf)
    if (min !== undefined) found.push(Math.ceil(min / multipleOf) * multipleOf)
    if (max !== undefined) found.push(Math.floor(max / multipleOf) * multipleOf)
  }
  return found
}

/** Returns numbers that satisfy the keywords, or undefined if there are none. */
export function numbers(keywords: Keywords): fc.Arbitrary<number> | undefined {
  const { min = -Number.MAX_VALUE, max = Number.MAX_VALUE, minExcluded, maxExcluded } = limits(keywords)
  const isInside = (value: number) =>
    (minExcluded ? value > min : value >= min) && (maxExcluded ? value < max : value <= max)
  if (min > max || (min === max && !isInside(min))) return undefined
  const multipleOf = keywords.multipleOf === undefined ? undefined : Number(keywords.multipleOf)
  // fast-check orders -0 before 0.
  if (multipleOf === undefined) return fc.double({ ...finite, min, max, minExcluded, maxExcluded }).filter(isInside)
  const many = 1_000_000
  const [first, last] = [Math.max(-many, Math.ceil(min / multipleOf)), Math.min(many, Math.floor(max / multipleOf))]
  if (first > last) return undefined
  const multiples = fc.integer({ min: first, max: last }).map((count) => count * multipleOf)
  // The product is rounded to a double, which is often not an exact multiple of a decimal fraction.
  const isMultiple = (value: number) => isInside(value) && Number.isInteger(value / multipleOf)
  return filterOrThrow(multiples, isMultiple, `multipleOf ${multipleOf}`)
}

/** Returns numbers outside of the limits, or between the multiples. */
export function numberViolations(keywords: Keywords): SchemaViolation[] {
  const { min, max, minExcluded, maxExcluded } = limits(keywords)
  const multipleOf = keywords.multipleOf === undefined ? undefined : Number(keywords.multipleOf)
  const isBelow = (value: number) => min !== undefined && (minExcluded ? value <= min : value < min)
  const isAbove = (value: number) => max !== undefined && (maxExcluded ? value >= max : value > max)
  return rootViolations({
    'below the least': min === undefined ? undefined : fc.double({ ...finite, max: min }).filter(isBelow),
    'above the greatest': max === undefined ? undefined : fc.double({ ...finite, min: max }).filter(isAbove),
    'no multiple': multipleOf === undefined ? undefined : numbers(keywords)?.map((value) => value + multipleOf / 2),
  })
}
