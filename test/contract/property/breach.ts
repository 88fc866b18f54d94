import type * as fc from 'fast-check'
import type { Json } from './json.ts'

/** One way to break a schema. */
export type Breach = {
  /** Pointer into the value, to what is wrong (RFC 6901). */
  where: string
  /** What is wrong there. */
  what: string
  /** Whole values that are wrong in this way alone. */
  values: fc.Arbitrary<Json>
}

/** Returns the breaches of a value itself, without those that are not possible. */
export const breachesHere = (found: Record<string, fc.Arbitrary<Json> | undefined>): Breach[] =>
  Object.entries(found).flatMap(([what, values]) => (values === undefined ? [] : [{ where: '', what, values }]))
