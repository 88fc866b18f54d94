import * as fc from 'fast-check'
import { filterOrThrow, isFoundInSample, text } from './arbitrary.ts'
import { formats } from './formats.ts'
import type { Keywords } from './keywords.ts'
import { rootViolations, type SchemaViolation } from './schema-violation.ts'

/** The largest maxLength, in code points, for which a longer string is generated: bodies have a size limit. */
const longest = 10_000

/** Returns the length of a text in code points (JSON Schema Validation section 6.3.1). */
const lengthOf = (value: string): number => Array.from(value).length

/** Returns strings that satisfy the keywords, or undefined if there are none. */
export function strings(keywords: Keywords): fc.Arbitrary<string> | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format = '' } = keywords
  if (minLength > maxLength) return undefined
  const known = Object.hasOwn(formats, format) ? formats[format]?.values : undefined
  if (known === undefined && pattern === undefined)
    return text({ minLength, maxLength: Math.min(maxLength, minLength + 40) })
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  const values = known ?? fc.stringMatching(expression as RegExp)
  const fits = (value: string) =>
    lengthOf(value) >= minLength &&
    lengthOf(value) <= maxLength &&
    !value.includes('\0') &&
    value.isWellFormed() &&
    (expression?.test(value) ?? true)
  return filterOrThrow(values, fits, `format ${format}, pattern ${pattern}`)
}

/** Returns strings that are too short, too long, or do not match the pattern or the format. */
export function stringViolations({
  minLength = 0,
  maxLength = longest,
  pattern,
  format = '',
}: Keywords): SchemaViolation[] {
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined
  return rootViolations({
    'too short': minLength > 0 ? text({ maxLength: Math.min(minLength, longest) - 1 }) : undefined,
    'too long': maxLength < longest ? text({ minLength: maxLength + 1, maxLength: maxLength + 10 }) : undefined,
    'not of the pattern': pattern === undefined ? undefined : notOf(pattern),
    [`no ${format}`]:
      known &&
      fc.oneof(
        fc.constantFrom(...known.near),
        // The reference validator checks base64 line by line, so the other text has no line ends.
        text().map((other) => ` ${other.replaceAll(/[\n\r\u2028\u2029]/g, ' ')}`),
      ),
  })
}

function notOf(pattern: string): fc.Arbitrary<string> | undefined {
  const expression = new RegExp(pattern, 'u')
  const isOther = (value: string) => !expression.test(value)
  const others = fc.oneof(text(), fc.constant(''))
  return isFoundInSample(others, isOther) ? filterOrThrow(others, isOther, `anything but ${pattern}`) : undefined
}
