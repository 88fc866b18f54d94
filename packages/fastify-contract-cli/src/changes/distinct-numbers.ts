import type { Document } from '../document/openapi-document.ts'
import { mapScalars } from '../document/walk-document.ts'

/** Documents that a comparison of doubles takes for as different as they are, and what restores numbers in a text. */
type Distinct = { documents: Document[]; restored: (text: string) => string }

/**
 * Returns documents in which each bigint is a double, in the same order, so that different integers remain different:
 * the closest doubles of 2^63 - 1 and 2^63 - 2 are the same one.
 */
export function withDistinctNumbers(documents: Document[]): Distinct {
  const integers = new Set<bigint>()
  const collect = (scalar: unknown) => (typeof scalar === 'bigint' ? integers.add(scalar) : scalar)
  for (const document of documents) mapScalars(document, collect)
  const doubles = new Map<bigint, number>()
  let last = Number.NEGATIVE_INFINITY
  for (const integer of [...integers].sort((one, other) => (one < other ? -1 : 1))) {
    last = Math.max(Number(integer), nextDouble(last))
    doubles.set(integer, last)
  }
  if (doubles.size === 0) return { documents, restored: (text) => text }
  const texts = new Map(Array.from(doubles, ([integer, double]) => [String(double), String(integer)]))
  const asDouble = (scalar: unknown) => (typeof scalar === 'bigint' ? doubles.get(scalar) : scalar)
  return {
    documents: documents.map((document) => mapScalars(document, asDouble) as Document),
    restored: (text) => text.replace(/-?\d+(?:\.\d+)?(?:e\+\d+)?/g, (number) => texts.get(number) ?? number),
  }
}

/** Returns the next greater double (IEEE 754). */
function nextDouble(double: number): number {
  if (double === Number.NEGATIVE_INFINITY) return double
  const bits = new BigInt64Array(1)
  const value = new Float64Array(bits.buffer)
  value[0] = double
  bits[0] = (bits[0] as bigint) + (double < 0 ? -1n : 1n)
  return value[0]
}
