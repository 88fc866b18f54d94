import * as fc from 'fast-check'
import { filterOrThrow } from './arbitrary.ts'
import type { Json } from './json-notations.ts'
import type { Keywords } from './keywords.ts'
import { rootViolations, type SchemaViolation } from './schema-violation.ts'

/** The limits of the integer formats of the OpenAPI Format Registry. */
export const formatLimits: Record<string, [bigint, bigint]> = {
  int8: [-(2n ** 7n), 2n ** 7n - 1n],
  int16: [-(2n ** 15n), 2n ** 15n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint8: [0n, 2n ** 8n - 1n],
  uint16: [0n, 2n ** 16n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
}
const safe = BigInt(Number.MAX_SAFE_INTEGER)

/** Returns the integers at the limits of the keywords, exactly, and zero. */
export function integerBoundaries(keywords: Keywords): bigint[] {
  const { least, greatest } = sendable(keywords)
  const step = stepOf(keywords) ?? 1n
  const limits: bigint[] = []
  if (least !== undefined) limits.push(-floorDivide(-least, step) * step)
  if (greatest !== undefined) limits.push(floorDivide(greatest, step) * step)
  return [...limits, 0n]
}

type Range = { least: bigint | undefined; greatest: bigint | undefined }

function rangeOf(keywords: Keywords): Range {
  const { format = '', minimum, exclusiveMinimum, maximum, exclusiveMaximum } = keywords
  const [lowest, highest] = formatLimits[format] ?? []
  const lower = [
    lowest,
    minimum === undefined ? undefined : rounded(minimum, Math.ceil),
    exclusiveMinimum === undefined ? undefined : rounded(exclusiveMinimum, Math.floor) + 1n,
  ]
  const upper = [
    highest,
    maximum === undefined ? undefined : rounded(maximum, Math.floor),
    exclusiveMaximum === undefined ? undefined : rounded(exclusiveMaximum, Math.ceil) - 1n,
  ]
  return {
    least: lower.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a)),
    greatest: upper.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a)),
  }
}

/** Returns the range of the integers that are sent: only int64 has more digits than a double, which most servers read. */
function sendable(keywords: Keywords): Range {
  const { least, greatest } = rangeOf(keywords)
  if (keywords.format === 'int64') return { least, greatest }
  return {
    least: least !== undefined && least < -safe ? -safe : least,
    greatest: greatest !== undefined && greatest > safe ? safe : greatest,
  }
}

/** Returns a limit as an integer. One with more digits than a double is a bigint in the document. */
const rounded = (limit: number | bigint, round: (limit: number) => number): bigint =>
  typeof limit === 'bigint' ? limit : BigInt(round(limit))

/** Returns the divisor of the integers, exactly; undefined if it is a fraction. */
function stepOf({ multipleOf = 1 }: Keywords): bigint | undefined {
  if (typeof multipleOf === 'bigint') return multipleOf
  return Number.isInteger(multipleOf) ? BigInt(multipleOf) : undefined
}

/** Divides and rounds down; BigInt's own division rounds toward zero. */
const floorDivide = (integer: bigint, by: bigint): bigint => {
  const quotient = integer / by
  return quotient * by > integer ? quotient - 1n : quotient
}

/** Integers that lose digits easily: the limits of 32 and 64 bits, and of the integers that a double holds exactly. */
const edges = [0n, 2n ** 31n, -(2n ** 31n) - 1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)]

const between = (least: bigint, greatest: bigint): fc.Arbitrary<bigint> | undefined => {
  if (least > greatest) return undefined
  const near = [least, greatest, ...edges].filter((edge) => edge >= least && edge <= greatest)
  return fc.oneof(fc.bigInt(least, greatest), fc.constantFrom(...near))
}

/** Returns integers that satisfy the keywords, or undefined if there are none. */
export function integers(keywords: Keywords): fc.Arbitrary<bigint> | undefined {
  const multipleOf = Number(keywords.multipleOf ?? 1)
  const { least = -safe, greatest = safe } = sendable(keywords)
  if (multipleOf === 1) return between(least, greatest)
  // The reference validator divides doubles, so it finds multiples only among integers that a double holds exactly.
  const [low, high] = [least < -safe ? -safe : least, greatest > safe ? safe : greatest]
  const step = stepOf(keywords)
  if (step === undefined) {
    const isMultiple = (value: bigint) => Number.isInteger(Number(value) / multipleOf)
    const all = between(low, high)
    return all && filterOrThrow(all, isMultiple, `multipleOf ${multipleOf}`)
  }
  return between(-floorDivide(-low, step), floorDivide(high, step))?.map((count) => count * step)
}

/** Returns numbers with a fraction, outside of the limits, or between the multiples. */
export function integerViolations(keywords: Keywords): SchemaViolation[] {
  const { least, greatest } = rangeOf(keywords)
  const multipleOf = Number(keywords.multipleOf ?? 1)
  const far = 2n ** 66n
  const half = fc.integer().map((integer): Json => integer + 0.5)
  return rootViolations({
    'a fraction': fc.oneof(fc.constant(12.5), half),
    'below the least':
      least === undefined ? undefined : fc.oneof(fc.bigInt(least - far, least - 1n), fc.constant(least - 1n)),
    'above the greatest':
      greatest === undefined
        ? undefined
        : fc.oneof(fc.bigInt(greatest + 1n, greatest + far), fc.constant(greatest + 1n)),
    'no multiple': multipleOf > 1 ? integers(keywords)?.map((multiple) => multiple + 1n) : undefined,
  })
}
