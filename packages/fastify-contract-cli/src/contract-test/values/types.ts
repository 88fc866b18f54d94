import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { stringifyJson } from 'fastify-contract/json'
import { anyJson, filterOrThrow, isFoundInSample, ofType, text } from './arbitrary.ts'
import { type Json, type JsonType, jsonText, jsonTypes, withDoubles } from './json-notations.ts'
import type { Keywords } from './keywords.ts'
import { rootViolations, type SchemaViolation } from './schema-violation.ts'

const keywordsOf: Partial<Record<JsonType, (keyof Keywords)[]>> = {
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  string: ['minLength', 'maxLength', 'pattern'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  object: ['properties', 'required', 'additionalProperties'],
}

/** Returns the types that a schema names or, without `type`, the types that its keywords constrain. */
export function typesOf(keywords: Keywords): string[] {
  if (keywords.type !== undefined) return keywords.type
  return jsonTypes.filter((type) => keywordsOf[type]?.some((keyword) => keyword in keywords))
}

const typeOf = (value: Json): JsonType => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' ? 'number' : (typeof value as JsonType)
}

/** Returns values of every other type. Some look valid to a service that coerces types. */
export function wrongTypes(types: string[], valid: fc.Arbitrary<Json>): SchemaViolation[] {
  const alike: Partial<Record<JsonType, fc.Arbitrary<Json>>> = {
    string: valid.map((value) => jsonText(value)),
    array: valid.map((value) => [value]),
    number: fc.constantFrom(0, 1),
  }
  const named = types.map((type) => (type === 'integer' ? 'number' : type))
  return jsonTypes
    .filter((type) => !named.includes(type))
    .flatMap((type) => {
      const values = alike[type] === undefined ? ofType[type] : fc.oneof(ofType[type], alike[type])
      return rootViolations({ [`${type} instead of ${types.join(' or ')}`]: values })
    })
}

/** Returns values of the same types that an enum or a const does not list. */
export function unlisted(listed: Json[], types: string[] | undefined): SchemaViolation[] {
  const near = listed.flatMap((value) =>
    typeof value === 'string' ? [`${value} `, value.toUpperCase(), value.slice(1)] : [],
  )
  const wanted = types?.map((type) => (type === 'integer' ? 'number' : type)) ?? jsonTypes
  const others = fc.oneof(
    anyJson,
    text({ maxLength: 5 }),
    fc.maxSafeInteger().map(BigInt),
    fc.constantFrom(null, ...near),
  )
  const isOther = (value: Json) =>
    wanted.includes(typeOf(value)) && !listed.some((one) => isDeepStrictEqual(withDoubles(value), withDoubles(one)))
  if (!isFoundInSample(others, isOther)) return []
  return rootViolations({ 'not listed': filterOrThrow(others, isOther, `not in ${stringifyJson(listed)}`) })
}
