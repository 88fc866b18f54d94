import type * as fc from 'fast-check'
import type { Json } from './json-notations.ts'

/** One way to break a schema. */
export type SchemaViolation = {
  /** JSON Pointer (RFC 6901) to the invalid part of the value. */
  where: string
  /** The reason why that part is invalid. */
  what: string
  /** Complete values that are invalid for this reason only. */
  values: fc.Arbitrary<Json>
}

/** Returns breaches at the root of a value, from reasons and values. Leaves out a reason whose values are undefined. */
export const rootViolations = (found: Record<string, fc.Arbitrary<Json> | undefined>): SchemaViolation[] =>
  Object.entries(found).flatMap(([what, values]) => (values === undefined ? [] : [{ where: '', what, values }]))
