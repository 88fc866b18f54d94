import { isDeepStrictEqual } from 'node:util'
import type { Schema } from 'fastify-contract/contract'
import type { Json } from './json-notations.ts'

/** The keywords of JSON Schema 2020-12 from which the generator makes values. */
export type Keywords = {
  type?: string[]
  enum?: Json[]
  properties?: Record<string, Schema>
  additionalProperties?: Schema
  required?: string[]
  items?: Schema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  minProperties?: number
  maxProperties?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  example?: unknown
  examples?: unknown
}

/** The conjunction of the schemas that apply to one value. */
export type SchemaBranch = {
  keywords: Keywords
  /** Whether the schemas have other keywords, which only a validator can check. */
  judged: boolean
}

// A limit with more digits than a double is a bigint in the document.
const greater = (a: number, b: number) => (a > b ? a : b)
const lesser = (a: number, b: number) => (a < b ? a : b)
const both = (a: Schema, b: Schema): Schema => {
  if (a === true || isDeepStrictEqual(a, b)) return b
  return b === true ? a : { allOf: [a, b] }
}

/** For each keyword, a function that joins two of its values into one with the meaning of both. */
const joins = {
  type: (a: string[], b: string[]) => [
    ...a.filter((type) => b.includes(type) || (type === 'integer' && b.includes('number'))),
    ...b.filter((type) => type === 'integer' && a.includes('number') && !a.includes('integer')),
  ],
  enum: (a: Json[], b: Json[]) => a.filter((value) => b.some((other) => isDeepStrictEqual(value, other))),
  required: (a: string[], b: string[]) => [...new Set([...a, ...b])],
  additionalProperties: both,
  items: both,
  uniqueItems: (a: boolean, b: boolean) => a || b,
  minimum: greater,
  exclusiveMinimum: greater,
  minLength: greater,
  minItems: greater,
  maximum: lesser,
  exclusiveMaximum: lesser,
  maxLength: lesser,
  maxItems: lesser,
}

/** Returns the conjunction of two schemas of the same value. */
export function join(a: SchemaBranch, b: SchemaBranch): SchemaBranch {
  const keywords: Record<string, unknown> = { ...a.keywords }
  let judged = a.judged || b.judged
  for (const [name, value] of Object.entries(b.keywords)) {
    const present = keywords[name]
    if (present === undefined) keywords[name] = value
    else if (name in joins) keywords[name] = joins[name as keyof typeof joins](present as never, value as never)
    else if (name !== 'properties' && !isDeepStrictEqual(present, value)) judged = true
  }
  const properties = joinProperties(a.keywords, b.keywords)
  return { keywords: { ...keywords, ...properties }, judged }
}

/** Joins properties: one schema's additionalProperties applies to a property that only the other schema names. */
function joinProperties(a: Keywords, b: Keywords): Pick<Keywords, 'properties'> {
  const names = new Set(Object.keys({ ...a.properties, ...b.properties }))
  if (names.size === 0) return {}
  const schemas = (name: string) =>
    [a, b].map(({ properties, additionalProperties = true }) => properties?.[name] ?? additionalProperties)
  return { properties: Object.fromEntries(Array.from(names, (name) => [name, schemas(name).reduce(both, true)])) }
}
