import * as fc from 'fast-check'
import { hasFormat } from 'fastify-contract/schema'
import { expressionOf, growthOf, textOfPattern } from '../../document/patterns.ts'
import { filterOrThrow, findableOf, isFoundInSample, longText, text } from './arbitrary.ts'
import { formats } from './formats.ts'
import type { Keywords } from './keywords.ts'
import { rootViolations, type SchemaViolation } from './schema-violation.ts'
import { anyValues, type ValueOptions } from './value-options.ts'

/** The largest maxLength, in code points, for which a longer string is generated: bodies have a size limit. */
const longest = 10_000

/** The maximum number of characters by which a text is too long. */
const more = 9

/** Returns the length of a text in code points (JSON Schema Validation section 6.3.1). */
const lengthOf = (value: string): number => Array.from(value).length

/** Returns strings that satisfy the keywords, or undefined if there are none. */
export function strings(
  keywords: Keywords,
  { characters, hasAnyFormat }: ValueOptions = anyValues,
): fc.Arbitrary<string> | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format = '' } = keywords
  if (minLength > maxLength) return undefined
  const known = Object.hasOwn(formats, format) ? formats[format]?.values : undefined
  if (known === undefined && !hasAnyFormat && !freeFormats.includes(format)) return exampleTexts(keywords)
  if (known === undefined && pattern === undefined)
    return longText(minLength, Math.min(maxLength - minLength, 40), characters)
  const expression = pattern === undefined ? undefined : matchable(pattern)
  if (pattern !== undefined && expression === undefined) return undefined
  const matching = expression && textsOf(pattern as string, expression)
  const sources = [known, matching].filter((one) => one !== undefined)
  if (sources.length === 0) return undefined
  const fits = (value: string) =>
    lengthOf(value) >= minLength &&
    lengthOf(value) <= maxLength &&
    !value.includes('\0') &&
    value.isWellFormed() &&
    (expression?.test(value) ?? true) &&
    (known === undefined || hasFormat(format, value))
  return findableOf(fc.oneof(...sources), fits, `format ${format}, pattern ${pattern}`)
}

/** Formats that only say how a text is shown, and the lack of one. */
const freeFormats = ['', 'password', 'binary']

/** Returns the examples of a text, whose format is not known. */
function exampleTexts({ example, examples = [] }: Keywords): fc.Arbitrary<string> | undefined {
  const given = [example, ...[examples].flat()].filter((one): one is string => typeof one === 'string')
  return given.length === 0 ? undefined : fc.constantFrom(...given)
}

/** Returns texts that match a pattern. A made one is readable, and also found where a look-around is not supported. */
function textsOf(pattern: string, expression: RegExp): fc.Arbitrary<string> | undefined {
  const made = [0, 1].flatMap((more) => textOfPattern(pattern, more) ?? [])
  const examples = made.length === 0 ? [] : [fc.constantFrom(...made)]
  try {
    return fc.oneof(fc.stringMatching(expression), ...examples)
  } catch {
    return examples[0]
  }
}

/** Returns the expression of a pattern; undefined if the text is none, or if a match may take exponential time. */
const matchable = (pattern: string): RegExp | undefined =>
  growthOf(pattern) === 'steep' ? undefined : expressionOf(pattern)

/** Returns strings that are too short, too long, or do not match the pattern or the format. */
export function stringViolations(keywords: Keywords, options: ValueOptions = anyValues): SchemaViolation[] {
  const { minLength = 0, maxLength = longest, pattern, format = '' } = keywords
  const { characters } = options
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined
  return rootViolations({
    'too short': minLength > 0 ? text({ maxLength: Math.min(minLength, longest) - 1 }, characters) : undefined,
    'too long':
      maxLength < longest
        ? (longerOfPattern(keywords, options) ?? longText(maxLength + 1, more, characters))
        : undefined,
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

/** Returns texts that are too long, but match the pattern, so that only their length is wrong. */
function longerOfPattern(
  { maxLength = 0, pattern }: Keywords,
  { characters }: ValueOptions,
): fc.Arbitrary<string> | undefined {
  const expression = pattern === undefined ? undefined : matchable(pattern)
  if (expression === undefined) return undefined
  const made = textOfPattern(pattern as string, maxLength + 1)
  const sources = [
    longText(maxLength + 1, more, characters),
    fc.constant('a'.repeat(maxLength + 1)),
    ...(made === undefined ? [] : [fc.constant(made)]),
  ]
  const isLonger = (value: string) => lengthOf(value) > maxLength && expression.test(value)
  return findableOf(fc.oneof(...sources), isLonger, `longer than ${maxLength}, of ${pattern}`)
}

function notOf(pattern: string): fc.Arbitrary<string> | undefined {
  const expression = matchable(pattern)
  if (expression === undefined) return undefined
  const isOther = (value: string) => !expression.test(value)
  const others = fc.oneof(text(), fc.constant(''))
  return isFoundInSample(others, isOther) ? filterOrThrow(others, isOther, `anything but ${pattern}`) : undefined
}
