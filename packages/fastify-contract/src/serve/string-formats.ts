import type { Format } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'

/** Returns a format that accepts only the texts of the pattern. */
const within =
  (pattern: RegExp, format: Format): Format =>
  (text: string) =>
    pattern.test(text) && (format as { validate(text: string): boolean }).validate(text)

/** The formats that are checked. */
export const formats: Record<string, Format> = {
  ...fullFormats,
  // Base64 with padding (RFC 4648 section 4). ajv-formats accepts a multi-line text as soon as one of its lines is base64.
  byte: /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/,
  // ajv-formats also accepts white space instead of the T, and the offsets +01 and +0100 (RFC 3339 section 5.6).
  'date-time': within(/^.{10}t.*(?:z|[+-]\d\d:\d\d)$/i, fullFormats['date-time'] as Format),
  time: within(/(?:z|[+-]\d\d:\d\d)$/i, fullFormats.time as Format),
  // The expression of ajv-formats takes quadratic time.
  url: (text: string) => /^(?:https?|ftp):\/\/\S+$/iu.test(text) && URL.canParse(text),
}

const tests = new Map(
  Object.entries(formats).flatMap(([name, format]): [string, (text: string) => unknown][] => {
    if (format instanceof RegExp) return [[name, (text) => format.test(text)]]
    if (typeof format === 'function') return [[name, format]]
    return typeof format === 'object' && format.type !== 'number' ? [[name, format.validate as never]] : []
  }),
)

/** Returns whether a string has a format. Formats that are unknown, or of numbers, do not apply to strings. */
export const hasFormat = (name: string, text: string): boolean => Boolean(tests.get(name)?.(text) ?? true)
