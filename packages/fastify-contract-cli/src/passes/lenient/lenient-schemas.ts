import { formats, integerBounds } from 'fastify-contract/schema'
import { isExactInteger, isNumber } from '../../document/schemas.ts'
import { type At, type Node, withoutKeys } from '../../document/walk-document.ts'
import { withDependentRequired } from '../../read/schema-dialects.ts'
import type { Advise } from '../../reports/reports.ts'

/** The keywords that apply to values of some types only (JSON Schema 2020-12, validation, section 6, and core, 10.3). */
const applicable: [types: string[], keywords: Set<string>][] = [
  [['string'], new Set(['minLength', 'maxLength', 'pattern'])],
  [['number', 'integer'], new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'])],
  [['array'], new Set(['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems', 'unevaluatedItems'])],
  [
    ['object'],
    new Set(
      'properties additionalProperties patternProperties required minProperties maxProperties propertyNames'.split(' '),
    ),
  ],
]

/** Keywords of JSON Schema that OpenAPI 3.0 does not have; they are applied as in 3.1. */
const since31 = new Set(
  (
    'const contains maxContains minContains prefixItems patternProperties propertyNames dependentRequired ' +
    'dependentSchemas unevaluatedItems unevaluatedProperties if then else'
  ).split(' '),
)

/**
 * Returns a schema in which limits have the form of the version of OpenAPI. Reports keywords of another version, and
 * those that have no effect.
 */
export function lenientSchema(schema: Node, is30: boolean, at: At, advise: Advise): Node {
  const newer = is30 ? keywordsIn(schema, since31) : []
  if (newer.length > 0)
    advise('keyword-of-another-version', at(), `${newer.join(', ')}: new in OpenAPI 3.1, and applied as there`)
  if (is30 && (Array.isArray(schema.type) || schema.type === 'null'))
    advise(
      'keyword-of-another-version',
      at('type'),
      `is new in OpenAPI 3.1, and applied as there; in 3.0, use one type and nullable`,
    )
  adviseOnTypes(schema, at, advise)
  const formatted = withPlainFormat(schema, at, advise)
  const listed = withLists(withoutEmptyEnum(formatted, at, advise), at, advise)
  return withLimits(withWideFormat(listed, at, advise), is30, at, advise)
}

/** Returns which of some keywords a schema has; most schemas have fewer than the list. */
function keywordsIn(schema: Node, keywords: ReadonlySet<string>): string[] {
  for (const keyword in schema)
    if (keywords.has(keyword)) return [...keywords].filter((each) => Object.hasOwn(schema, each))
  return []
}

function withLists(schema: Node, at: At, advise: Advise): Node {
  const mended = withDependentRequired(schema)
  if (mended !== schema)
    advise(
      'keyword-of-another-version',
      at('dependencies'),
      'holds lists of names; read as dependentRequired, its name since JSON Schema 2019-09',
    )
  return mended
}

const knownFormats = new Set([...Object.keys(formats), ...Object.keys(integerBounds), 'binary'])

/** Returns a schema with a format that has an effect in place of its name in another case: formats are exact texts. */
function withPlainFormat(schema: Node, at: At, advise: Advise): Node {
  if (schema.format === undefined) return schema
  const format = String(schema.format).trim().toLowerCase()
  if (format === schema.format || !knownFormats.has(format)) return schema
  advise('convertible-type', at('format'), `is read as ${format}; correct it`)
  return { ...schema, format }
}

/** The keywords whose integers are values of a schema, or limits of them. */
const valued = ['const', 'enum', 'default', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

/** Returns a schema of integers beyond 2^53 - 1 with a format that is exact for them, if it has none. */
function withWideFormat(schema: Node, at: At, advise: Advise): Node {
  if (schema.format !== undefined || !isExactInteger(schema)) return schema
  const values = valued.flatMap((keyword) => schema[keyword])
  const numbers = values.filter(isNumber).map(Number)
  if (numbers.every((value) => Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return schema
  const least = Math.min(...numbers)
  const most = Math.max(...numbers)
  const isUnsigned = least >= 0 && ['const', 'enum', 'minimum', 'exclusiveMinimum'].some((keyword) => keyword in schema)
  const isOfInt64 = least >= -(2 ** 63) && most <= 2 ** 63
  if (!isOfInt64 && !(isUnsigned && most <= 2 ** 64)) return schema
  const format = isOfInt64 ? 'int64' : 'uint64'
  advise(
    'wide-integer-without-format',
    at(),
    `has integers beyond 2^53 - 1 without a format; read as the format ${format}; add it`,
  )
  return { ...schema, format }
}

/** Returns a schema without an `enum` of no values, which no value satisfies; Ajv does not compile it. */
function withoutEmptyEnum(schema: Node, at: At, advise: Advise): Node {
  if (!Array.isArray(schema.enum) || schema.enum.length > 0) return schema
  advise('empty-enum', at('enum'), 'has no value, so that no value is valid; add one')
  const rest = withoutKeys(schema, ['enum'])
  return 'not' in rest ? { ...rest, allOf: [...[rest.allOf ?? []].flat(), { not: {} }] } : { ...rest, not: {} }
}

function adviseOnTypes(schema: Node, at: At, advise: Advise): void {
  if (schema.type === undefined) return
  const types = [schema.type].flat()
  for (const [applied, keywords] of applicable) {
    if (types.some((type) => applied.includes(type as string))) continue
    const idle = keywordsIn(schema, keywords)
    if (idle.length > 0)
      advise(
        'keyword-of-another-type',
        at(),
        `${idle.join(', ')}: no effect beside the type ${types.join(' or ')}; remove it, or correct the type`,
      )
  }
}

const limits = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const

function withLimits(schema: Node, is30: boolean, at: At, advise: Advise): Node {
  let mended = schema
  for (const [limit, exclusive] of limits) {
    const value = mended[exclusive]
    if (is30 && isNumber(value))
      advise(
        'keyword-of-another-version',
        at(exclusive),
        `must be true or false in OpenAPI 3.0; applied as a limit, as in 3.1`,
      )
    if (is30 || typeof value !== 'boolean') continue
    advise(
      'keyword-of-another-version',
      at(exclusive),
      `must be a number since OpenAPI 3.1; applied to ${limit}, as in 3.0`,
    )
    const { [limit]: bound, ...others } = withoutKeys(mended, [exclusive])
    mended = bound === undefined ? others : { ...others, [value ? exclusive : limit]: bound }
  }
  return mended
}
