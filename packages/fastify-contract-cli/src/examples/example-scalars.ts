import { schemasIn } from 'fastify-contract/contract'
import { multipleTest } from 'fastify-contract/json'
import { hasFormat } from 'fastify-contract/schema'
import { matchesPattern, maxLength, textOfPattern } from '../document/patterns.ts'
import { numbersOf } from '../document/schemas.ts'
import type { Node } from '../document/walk-document.ts'
import { maxArrayItems } from './example-items.ts'

/** Example strings for each format that the service validates, by variant. The other formats need none. */
const formats: Record<string, (variant: number) => string> = {
  date: (n) => `${2026 + n}-01-01`,
  time: (n) => `${clock(n)}Z`,
  'date-time': (n) => `2026-01-01T${clock(n)}Z`,
  'iso-time': (n) => `${clock(n)}Z`,
  'iso-date-time': (n) => `2026-01-01T${clock(n)}Z`,
  duration: (n) => `P${n + 1}D`,
  uuid: (n) => `00000000-0000-4000-8000-${padded(n, 12)}`,
  email: (n) => `user${numberOf(n)}@example.com`,
  hostname: (n) => `${n === 0 ? '' : `host${n}.`}example.com`,
  ipv4: (n) => `192.0.2.${n + 1}`,
  ipv6: (n) => `2001:db8::${(n + 1).toString(16)}`,
  uri: (n) => `https://example.com/${numberOf(n)}`,
  'uri-reference': (n) => `https://example.com/${numberOf(n)}`,
  'uri-template': (n) => `https://example.com/${numberOf(n)}`,
  url: (n) => `https://example.com/${numberOf(n)}`,
  'relative-json-pointer': String,
}

const padded = (number: number, length: number): string => String(number).padStart(length, '0')
const numberOf = (variant: number): string => (variant === 0 ? '' : String(variant))
const clock = (minutes: number): string => `${padded(Math.floor(minutes / 60), 2)}:${padded(minutes % 60, 2)}:00`

/** Matches the names that are example strings. Others, such as those of 100 characters, would not be read. */
const readable = /^[A-Za-z][\w .-]{0,39}$/

/**
 * Returns a string that satisfies all of the schemas, or the empty string if none is found. It differs from variant to
 * variant if possible.
 *
 * @param name The name of the member or the parameter with the string, which is the string if nothing speaks against it.
 */
export function exampleText(schemas: Node[], variant = 0, name = ''): string {
  const least = Math.max(...numbersOf(schemas, 'minLength'), 0)
  const most = Math.min(...numbersOf(schemas, 'maxLength'), Number.POSITIVE_INFINITY)
  const patterns = texts(schemas, 'pattern')
  const given = texts(schemas, 'format')
  // Base64 has groups of four characters (RFC 4648 section 4).
  const groups = least > 0 && given.includes('byte') ? Math.ceil(least / 4) : 0
  if (least > maxLength) return ''
  for (const candidate of candidates()) if (fits(candidate)) return candidate
  return ''

  /** Yields the candidates one by one, since the first one mostly fits. */
  function* candidates(): Generator<string> {
    for (const format of given) if (Object.hasOwn(formats, format)) yield formats[format]?.(variant) as string
    if (groups > 0) yield padded(variant, 4 * groups)
    if (readable.test(name)) yield variant === 0 ? name.slice(0, most) : `${name}${variant}`
    for (const pattern of patterns) {
      for (const more of [0, 1, least]) {
        const made = textOfPattern(pattern, more + variant)
        if (made !== undefined) yield made
      }
    }
    if (variant > 0) yield variant.toString(36).padStart(least, 'x')
    yield 'x'.repeat(least)
  }

  function fits(text: string): boolean {
    const length = [...text].length
    return (
      length >= least &&
      length <= most &&
      given.every((format) => hasFormat(format, text)) &&
      patterns.every((pattern) => matchesPattern(pattern, text))
    )
  }
}

/**
 * Returns a number that satisfies all of the schemas, or 0 if none is found. It differs from variant to variant if
 * possible.
 */
export function exampleNumber(schemas: Node[], isInteger: boolean, variant = 0): number {
  const steps = numbersOf(schemas, 'multipleOf').filter((step) => step > 0)
  const low = Math.max(...numbersOf(schemas, 'minimum'), ...numbersOf(schemas, 'exclusiveMinimum'))
  const high = Math.min(...numbersOf(schemas, 'maximum'), ...numbersOf(schemas, 'exclusiveMaximum'))
  const allSteps = [...steps, ...(isInteger ? [1] : [])]
  // A multiple of the product is a multiple of each integer.
  const stepped = [Math.max(...allSteps), allSteps.reduce((product, step) => product * step, 1)].flatMap((step) =>
    multiples(step, low, high, allSteps.length > 1 ? maxMultiples : 2),
  )
  const isMultiple = steps.map(multipleTest)
  const fits = (value: number) =>
    Number.isFinite(value) &&
    (!isInteger || Number.isInteger(value)) &&
    value >= low &&
    value <= high &&
    !numbersOf(schemas, 'exclusiveMinimum').includes(value) &&
    !numbersOf(schemas, 'exclusiveMaximum').includes(value) &&
    isMultiple.every((isOne) => isOne(value))
  const found = [0, ...stepped, low, high, low + 1, high - 1, (low + high) / 2].find(fits) ?? 0
  if (variant === 0) return found
  const step = allSteps.length > 0 ? allSteps.reduce((product, one) => product * one, 1) : 1
  const away = [step, -step, ...(allSteps.length > 0 ? [] : [(high - low) / 256, (low - high) / 256])]
  return away.map((distance) => decimal(found + variant * distance)).find(fits) ?? found
}

/** The multiples of a step that are tried at each end of a range, if there are several steps. */
const maxMultiples = 20

/** Returns the first multiples of a step in a range, and then the last ones, as decimal numbers. */
function multiples(step: number, low: number, high: number, count: number): number[] {
  const first: number[] = []
  const last: number[] = []
  for (let index = 0; index < count; index++) {
    first.push(decimal((Math.floor(low / step) + index) * step))
    last.push(decimal((Math.ceil(high / step) - index) * step))
  }
  return [...first, ...last]
}

/** Returns a product or a sum of decimal numbers, without the error of binary arithmetic. */
const decimal = (value: number): number => (Number.isSafeInteger(value) ? value : Number(value.toPrecision(15)))

const isString = (value: unknown): value is string => typeof value === 'string'

const texts = (schemas: Node[], keyword: string): string[] => schemas.map((schema) => schema[keyword]).filter(isString)

/** Returns names of members that the schemas of an object may allow without naming them. */
export function otherNames(schemas: Node[]): string[] {
  const rules = schemas.flatMap((schema) => schemasIn(schema, 'propertyNames')) as Node[]
  const patterns = schemas.flatMap(({ patternProperties }) => Object.keys(Object(patternProperties)))
  const lengths = Array.from({ length: maxArrayItems }, (_, index) => index + 1)
  return [
    ...patterns.flatMap((pattern) => [0, 1, 2].flatMap((more) => textOfPattern(pattern, more) ?? [])),
    ...lengths.map((minLength) => exampleText([...rules, { minLength }])),
  ]
}
