import { isDeepStrictEqual } from 'node:util'

/** Returns one value of a keyword that is equivalent to several values together, or undefined if there is none. */
type Combine = (values: unknown[]) => unknown

const areNumbers = (values: unknown[]): values is number[] => values.every((value) => typeof value === 'number')
const greatest: Combine = (values) => (areNumbers(values) ? Math.max(...values) : equal(values))
const least: Combine = (values) => (areNumbers(values) ? Math.min(...values) : equal(values))
const any: Combine = (values) => values.some((value) => value === true)

/** Returns the common value, or undefined if the values differ. */
export const equal: Combine = ([first, ...others]) =>
  others.every((other) => isDeepStrictEqual(first, other)) ? first : undefined

const union: Combine = (values) => [...new Set(values.flat())]

const intersection: Combine = (values) => {
  const [first = [], ...others] = values.map((value) => [value].flat())
  const common = first.filter((item) => others.every((other) => other.some((one) => isDeepStrictEqual(one, item))))
  return common.length > 0 ? common : undefined
}

/** An integer is a number (JSON Schema 2020-12, validation, section 6.1.1). */
const commonTypes: Combine = (values) => {
  const numeric = (types: unknown[]) => (types.includes('number') ? [...types, 'integer'] : types)
  const common = intersection(values.map((value) => numeric([value].flat()))) as unknown[] | undefined
  const types = common?.filter((type) => type !== 'integer' || !common.includes('number'))
  return types?.length === 1 ? types[0] : types
}

const textOf: Combine = (values) => [...new Set(values)].join('\n')

/** Returns whether a keyword is documentation only (JSON Schema validation, section 9; OpenAPI 3.1, section 4.8.24). */
export const isText = (keyword: string): boolean =>
  /^(title|description|\$comment|examples?|externalDocs|xml)$|^x-/.test(keyword)

const combines: Record<string, Combine> = {
  type: commonTypes,
  enum: intersection,
  required: union,
  title: textOf,
  description: textOf,
  $comment: textOf,
  examples: union,
  uniqueItems: any,
  deprecated: any,
  readOnly: any,
  writeOnly: any,
  ...Object.fromEntries(
    ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'].map((keyword) => [keyword, greatest]),
  ),
  ...Object.fromEntries(
    ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'].map((keyword) => [keyword, least]),
  ),
}

/** Returns the value of a keyword that is equivalent to all of these values together, or undefined if there is none. */
export const combined = (keyword: string, values: unknown[]): unknown =>
  values.length === 1 || !Object.hasOwn(combines, keyword) ? equal(values) : combines[keyword]?.(values)

/**
 * Returns a schema with `type` and `required` sorted, since their order has no meaning, and without an empty
 * `required`.
 */
export function ordered({ required, ...schema }: Record<string, unknown>): Record<string, unknown> {
  const types = Array.isArray(schema.type) ? { type: [...schema.type].sort() } : {}
  const names = Array.isArray(required) ? [...required].sort() : required
  return { ...schema, ...types, ...(names === undefined || [names].flat().length === 0 ? {} : { required: names }) }
}
