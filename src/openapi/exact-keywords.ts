import type { FuncKeywordDefinition } from 'ajv'
import type { DataValidateFunction, DataValidationCxt } from 'ajv/dist/types/index.js'
import { inexactNumber } from '../json/parse-json.ts'
import { withAlternatives } from './alternatives.ts'

/** Where a value comes from: a JSON body, the text of a parameter, or a handler. */
export type Source = 'json' | 'text' | 'handler'

const bounds = { int32: [-(2n ** 31n), 2n ** 31n - 1n], int64: [-(2n ** 63n), 2n ** 63n - 1n] } as const

/** An integer schema with format int32 or int64: its numeric keywords, which Ajv would apply to the rounded value. */
type Limits = {
  format: keyof typeof bounds
  otherTypes: string[]
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  enum?: unknown[]
  const?: unknown
}

const keywords = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'enum', 'const']

/**
 * Takes a JSON value that holds schemas anywhere; gives a copy in which every schema of an int32 or int64 is one
 * `exactInteger` keyword. Ajv's own `type: integer` knows neither bigint nor the digits that a double loses.
 */
export function withExactIntegers(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withExactIntegers)
  if (typeof node !== 'object' || node === null) return node
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withAlternatives(key, withExactIntegers(value))]),
  )
  const { type, format, ...rest } = copy
  const types = [type].flat()
  if (!types.includes('integer') || !Object.hasOwn(bounds, String(format))) return copy
  const limits: Record<string, unknown> = { format, otherTypes: types.filter((other) => other !== 'integer') }
  for (const keyword of keywords) if (Object.hasOwn(rest, keyword)) limits[keyword] = rest[keyword]
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([key]) => !keywords.includes(key))),
    exactInteger: limits,
  }
}

/** An integer that was found: the object or array that holds it, its key there, and what a handler takes for it. */
export type Conversion = [holder: Record<string | number, unknown>, key: string | number, value: bigint | number]

/** The keyword, for values from one source; adds every integer that a client sent to `found`. */
export function exactIntegerKeyword(source: Source, found: Conversion[]): FuncKeywordDefinition {
  return {
    keyword: 'exactInteger',
    schemaType: 'object',
    compile(limits: Limits) {
      const validate: DataValidateFunction = (data: unknown, context?: DataValidationCxt) => {
        const { parentData, parentDataProperty } = context as DataValidationCxt
        const isOther = source !== 'text' && limits.otherTypes.includes(jsonType(data))
        const integer = isOther ? undefined : read(source, data, parentData, parentDataProperty)
        const problem = isOther ? unlisted(limits, data) : violation(limits, integer)
        if (problem !== undefined) {
          validate.errors = [{ keyword: 'exactInteger', message: problem, params: {} }]
          return false
        }
        // Of what a handler gives nothing is converted: kept, it would only pile up.
        if (integer === undefined || source === 'handler') return true
        found.push([
          parentData,
          parentDataProperty,
          limits.format === 'int64' ? integer : Number(integer),
        ] as Conversion)
        return true
      }
      return validate
    },
  }
}

const jsonType = (data: unknown): string => (data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data)

const notAllowed = 'must be equal to one of the allowed values'

const unlisted = ({ enum: allowed, const: only }: Limits, data: unknown): string | undefined =>
  (allowed?.includes(data) ?? true) && (only === undefined || only === data) ? undefined : notAllowed

function read(source: Source, data: unknown, holder: object, key: string | number): bigint | undefined {
  if (source === 'handler' && typeof data === 'bigint') return data
  if (source === 'text' && typeof data === 'string') return exactInteger(data)
  if (source === 'text' || typeof data !== 'number') return undefined
  const digits = source === 'json' ? inexactNumber(holder, key) : undefined
  if (digits !== undefined) return exactInteger(digits)
  return Number.isInteger(data) ? BigInt(data) : undefined
}

function violation(limits: Limits, integer: bigint | undefined): string | undefined {
  const [least, greatest] = bounds[limits.format]
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = limits
  if (integer === undefined || integer < least || integer > greatest) return `must be an ${limits.format} integer`
  if (minimum !== undefined && integer < minimum) return `must be >= ${minimum}`
  if (maximum !== undefined && integer > maximum) return `must be <= ${maximum}`
  if (exclusiveMinimum !== undefined && integer <= exclusiveMinimum) return `must be > ${exclusiveMinimum}`
  if (exclusiveMaximum !== undefined && integer >= exclusiveMaximum) return `must be < ${exclusiveMaximum}`
  if (multipleOf !== undefined && integer % BigInt(multipleOf) !== 0n) return `must be multiple of ${multipleOf}`
  const equals = (value: unknown) => Number.isInteger(value) && BigInt(value as number) === integer
  if (limits.enum !== undefined && !limits.enum.some(equals)) return notAllowed
  if (limits.const !== undefined && !equals(limits.const)) return notAllowed
  return undefined
}

const decimal = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/**
 * Takes a number in the grammar of RFC 8259 section 6; gives its value when that is an integer of at most 19 digits,
 * else undefined. The exponent is compared, never expanded.
 */
export function exactInteger(text: string): bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = decimal.exec(text) ?? []
  if (sign === undefined) return undefined
  const digits = whole + fraction
  let [start, end] = [0, digits.length]
  while (start < end && digits[start] === '0') start++
  while (end > start && digits[end - 1] === '0') end--
  if (start === end) return 0n
  const zeros = Number(exponent) - fraction.length + (digits.length - end)
  if (zeros < 0 || end - start + zeros > 19) return undefined
  return BigInt(sign + digits.slice(start, end) + '0'.repeat(zeros))
}
