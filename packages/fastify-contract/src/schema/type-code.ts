import { allowsType, type Schema } from '../contract/schema-keywords.ts'
import { exactRange, integerBounds, isIntegerFormat } from './exact-keywords.ts'
import {
  arrayConditions,
  boundConditions,
  conjunction,
  constantConditions,
  numberConditions,
  stringConditions,
} from './keyword-conditions.ts'
import type { MergedKeywords, ObjectSchema } from './merged-keywords.ts'
import { objectCode } from './object-code.ts'

/*
 * The code of serializers, one function for each JSON type. The code has the variables `value` and `text`. It returns
 * the text with the value appended, or undefined for a value that it cannot prove valid.
 */

/** Names the functions that the code calls. */
export type SerializerNames = {
  /**
   * Returns the name of the function that appends the values that these schemas describe together to a text.
   * `isRemovalSafe` tells that no keyword above these schemas looks into the members of their values, so unlisted
   * members can be left out.
   */
  writerOf(schemas: Schema[], isRemovalSafe: boolean): string
  /** Returns the name of the function that this code returns; it is made once. */
  testOf(code: string): string
  /** Returns the condition under which a value is valid under schemas that allow only strings; undefined for others. */
  textCondition(schemas: Schema[]): string | undefined
}

/** What describes the value whose code is written. */
export type Described = {
  merged: MergedKeywords
  /** The merged schemas without those that are only a reference. */
  described: ObjectSchema[]
  isRemovalSafe: boolean
  names: SerializerNames
}

/** The code of each type. A value whose type is integer has the code of numbers. */
const codeOfTypes: Record<string, (value: Described) => string[]> = {
  null: () => ['if (value === null) return text + "null"'],
  boolean: () => ['if (typeof value === "boolean") return text + value'],
  string: stringCode,
  integer: numberCode,
  array: arrayCode,
  object: objectCode,
}

/** Returns the lines of the function that appends the values of merged keywords, of any type. */
export function typeCode(value: Described): string[] {
  const { described } = value
  const constants = constantConditions(described).map((condition) => `if (!${condition}) return undefined`)
  const types = Object.entries(codeOfTypes).flatMap(([type, codeOf]) =>
    allowsType(described, type) ? codeOf(value) : [],
  )
  return [...constants, ...types, 'return undefined']
}

function stringCode({ described, names }: Described): string[] {
  const isValid = conjunction(stringConditions(described, names))
  return [`if (typeof value === "string") return ${isValid} ? text + "\\"" + unquoted(value) + "\\"" : undefined`]
}

function numberCode({ described, names }: Described): string[] {
  const ranges = described.flatMap(rangesOf)
  if (ranges.length > 0) return integerCode(ranges, described, names)
  const isValid = conjunction(['Number.isFinite(value)', ...numberConditions(described, names)])
  return [`if (typeof value === "number") return ${isValid} ? text + value : undefined`]
}

type Range = readonly [least: bigint, greatest: bigint]

/** Returns the range of the integers that a schema allows; an empty list if it allows any number. */
function rangesOf(schema: ObjectSchema): Range[] {
  if (isIntegerFormat(schema.format)) return [integerBounds[schema.format]]
  return allowsType([schema], 'number') ? [] : [exactRange]
}

/** Returns the lines for an integer, which is a number or a bigint. */
function integerCode(ranges: Range[], described: ObjectSchema[], names: SerializerNames): string[] {
  const isSafe = conjunction([
    'Number.isSafeInteger(value)',
    ...ranges.map(([least, greatest]) => `value >= ${Number(least)} && value <= ${Number(greatest)}`),
    ...numberConditions(described, names),
  ])
  const lines = [
    'if (typeof value === "bigint" && value >= -9007199254740991n && value <= 9007199254740991n) value = Number(value)',
    `if (typeof value === "number") return ${isSafe} ? text + value : undefined`,
  ]
  if (ranges.includes(exactRange) || described.some((schema) => 'multipleOf' in schema)) return lines
  const isValid = conjunction([
    ...ranges.map(([least, greatest]) => `value >= ${least}n && value <= ${greatest}n`),
    ...boundConditions(described, 'Number(value)'),
  ])
  return [...lines, `if (typeof value === "bigint") return ${isValid} ? text + value : undefined`]
}

function arrayCode({ merged, described, isRemovalSafe, names }: Described): string[] {
  return [
    'if (Array.isArray(value)) {',
    `if (!(${conjunction(arrayConditions(described))})) return undefined`,
    'text += "["',
    'for (let index = 0; index < value.length; index++) {',
    `text = ${names.writerOf(merged.items, isRemovalSafe)}(value[index], index === 0 ? text : text + ",")`,
    'if (text === undefined) return undefined',
    '}',
    'return text + "]"',
    '}',
  ]
}
