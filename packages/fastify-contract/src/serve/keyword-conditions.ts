import { exactKeyword } from './exact-keywords.ts'
import type { ObjectSchema } from './serializer.ts'

/** Returns code that checks a value under a keyword, whose own value is `limit`; `expression` is the code of a number. */
type Check = (limit: unknown, expression: string) => string

export const numberChecks: Record<string, Check> = {
  minimum: (limit, number) => `${number} >= ${limit}`,
  maximum: (limit, number) => `${number} <= ${limit}`,
  exclusiveMinimum: (limit, number) => `${number} > ${limit}`,
  exclusiveMaximum: (limit, number) => `${number} < ${limit}`,
}
for (const [keyword, check] of Object.entries(numberChecks)) {
  numberChecks[exactKeyword(keyword)] = (limit) => check(`${limit}n`, 'value')
}
numberChecks[exactKeyword('multipleOf')] = (divisor) =>
  `Number.isInteger(Number(value)) && BigInt(value) % ${divisor}n === 0n`

export const stringChecks: Record<string, Check> = {
  // A text has at least half as many characters as UTF-16 code units.
  minLength: (limit) => `(value.length >= ${2 * Number(limit)} || ucs2length(value) >= ${limit})`,
  maxLength: (limit) => `(value.length <= ${limit} || ucs2length(value) <= ${limit})`,
  format: (name) => `hasFormat(${JSON.stringify(name)}, value)`,
}

export const arrayChecks: Record<string, Check> = {
  minItems: (limit) => `value.length >= ${limit}`,
  maxItems: (limit) => `value.length <= ${limit}`,
}

/** Returns the code of a condition that holds if all conditions do. */
export const all = (conditions: string[]): string => (conditions.length === 0 ? 'true' : conditions.join(' && '))

/** Returns the conditions under which a value satisfies each keyword of `checks` in each schema. */
export const conditionsOf = (described: ObjectSchema[], checks: Record<string, Check>, number = 'value'): string[] =>
  described.flatMap((schema) =>
    Object.entries(checks).flatMap(([keyword, check]) => (keyword in schema ? [check(schema[keyword], number)] : [])),
  )

/** Returns the conditions under which a value is one of those that `enum` and `const` of each schema list. */
export const constantConditions = (described: ObjectSchema[]): string[] =>
  described
    .flatMap((schema) => [
      ...(schema.enum === undefined ? [] : [schema.enum as unknown[]]),
      ...(schema.const === undefined ? [] : [[schema.const]]),
    ])
    .map((values) => `(${['false', ...values.map((one) => `value === ${JSON.stringify(one)}`)].join(' || ')})`)
