import type * as fc from 'fast-check'
import type { Schema } from 'fastify-contract/contract'
import { filterOrThrow, isFoundInSample } from '../values/arbitrary.ts'
import type { Json } from '../values/json-notations.ts'
import type { ValueSources } from './value-sources.ts'

type Candidates = {
  schema: Schema
  values: fc.Arbitrary<Json>
  /** Returns whether a value is broken for a server that accepts the given values of the schema. */
  isBroken: (value: Json, accepts: (value: Json) => boolean) => boolean
  isOwn: boolean
}

/** The numbers of sampled values that tell whether servers convert them: mostly all are alike. */
const few = [1, 7]

/**
 * Returns the values that break a schema for every server or, if there are none, for a strict one only. Returns undefined
 * if even a strict server may accept them.
 */
export function certainBreach(
  { accepts, isConvertible, isCompilable }: ValueSources,
  { schema, values, isBroken, isOwn }: Candidates,
): { values: fc.Arbitrary<Json>; isStrict: boolean } | undefined {
  if (!isCompilable(schema)) return undefined
  const isStrictly = (value: Json) => isBroken(value, (one) => accepts(schema, one))
  const isSurely = (value: Json) => isBroken(value, (one) => accepts(schema, one) || isConvertible(schema, one))
  try {
    const isStrict = !isFoundInSample(values, isSurely, few)
    if (isStrict && !isFoundInSample(values, isStrictly)) return undefined
    return { values: filterOrThrow(values, isOwn || isStrict ? isStrictly : isSurely, 'a violation'), isStrict }
  } catch {
    return undefined
  }
}
