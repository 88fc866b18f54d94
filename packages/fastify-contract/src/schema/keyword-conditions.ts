import { exactKeyword, linearKeyword } from './exact-keywords.ts'
import type { ObjectSchema } from './merged-keywords.ts'

/*
 * The code of serializers: conditions under which the variable `value` satisfies the keywords of schemas.
 */

/** Returns code that checks a value under a keyword, whose own value is `limit`; `expression` is the code of a number. */
type CodeOfCheck = (limit: unknown, expression: string) => string

/** The keywords that a condition tests, each with its code. */
type Checks = Record<string, CodeOfCheck>

/** Names a function that tests a pattern or multiples, by its code. */
type TestNames = { testOf(code: string): string }

const numberChecks: Checks = {
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

const stringChecks: Checks = {
  // A text has at least half as many characters as UTF-16 code units.
  minLength: (limit) => `(value.length >= ${2 * Number(limit)} || ucs2length(value) >= ${limit})`,
  maxLength: (limit) => `(value.length <= ${limit} || ucs2length(value) <= ${limit})`,
  format: (name) => `hasFormat(${JSON.stringify(name)}, value)`,
}

const arrayChecks: Checks = {
  minItems: (limit) => `value.length >= ${limit}`,
  maxItems: (limit) => `value.length <= ${limit}`,
}

const memberChecks: Checks = { minProperties: (limit) => `Object.keys(value).length >= ${limit}` }

/** Returns the code of a condition that holds if all conditions do. */
export const conjunction = (conditions: string[]): string =>
  conditions.length === 0 ? 'true' : conditions.join(' && ')

/** Returns the conditions under which a value satisfies each keyword of `checks` in each schema. */
function conditionsOf(described: ObjectSchema[], checks: Checks, expression = 'value'): string[] {
  const conditions: string[] = []
  for (const schema of described) {
    for (const [keyword, check] of Object.entries(checks)) {
      if (keyword in schema) conditions.push(check(schema[keyword], expression))
    }
  }
  return conditions
}

/** Returns the conditions under which a value is one of those that `enum` and `const` of each schema list. */
export function constantConditions(described: ObjectSchema[]): string[] {
  const lists: unknown[][] = []
  for (const schema of described) {
    if (schema.enum !== undefined) lists.push(schema.enum as unknown[])
    if (schema.const !== undefined) lists.push([schema.const])
  }
  return lists.map((values) => `(${['false', ...values.map(isEqualTo)].join(' || ')})`)
}

const isEqualTo = (constant: unknown): string => `value === ${JSON.stringify(constant)}`

/** Returns the conditions for a number or bigint; `expression` is the code of its double. They leave out multipleOf. */
export const boundConditions = (described: ObjectSchema[], expression?: string): string[] =>
  conditionsOf(described, numberChecks, expression)

/** Returns the conditions for a number. */
export function numberConditions(described: ObjectSchema[], names: TestNames): string[] {
  const conditions = boundConditions(described)
  for (const { multipleOf: step } of described) {
    if (step !== undefined) conditions.push(`${names.testOf(`multipleTest(${step})`)}(value)`)
  }
  return conditions
}

/** Returns the conditions for a string. */
export function stringConditions(described: ObjectSchema[], names: TestNames): string[] {
  const conditions = conditionsOf(described, stringChecks)
  for (const { pattern, [linearKeyword]: linear } of described) {
    if (pattern !== undefined)
      conditions.push(`${names.testOf(`compilePattern(${JSON.stringify(pattern)})`)}.test(value)`)
    if (linear !== undefined) conditions.push(`${names.testOf(`linearPattern(${JSON.stringify(linear)})`)}(value)`)
  }
  return conditions
}

/** Returns the conditions for the number of the members of an object. */
export const memberCountConditions = (described: ObjectSchema[]): string[] => conditionsOf(described, memberChecks)

/** Returns the conditions for an array, without those for its items. */
export const arrayConditions = (described: ObjectSchema[]): string[] => conditionsOf(described, arrayChecks)
