import type { Format } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'

/** Returns a format that accepts only the texts of the pattern. */
const within =
  (pattern: RegExp, format: Format): Format =>
  (text: string) =>
    pattern.test(text) && (format as { validate(text: string): boolean }).validate(text)

/** Returns a format of times that may have any number of digits of a second: ajv-formats rounds 59.999… up to 60. */
const withoutFraction = (format: Format): Format => ({
  validate: (text: string) =>
    (format as { validate(text: string): boolean }).validate(text.replace(/(:\d\d)\.\d+/, '$1')),
})

/** The characters of a word in the local part of an email address (RFC 5322 section 3.2.3, atext). */
const word = "[a-z\\d!#$%&'*+/=?^_`{|}~-]+"
const label = '[a-z\\d](?:[a-z\\d-]*[a-z\\d])?'

/** The formats that are checked. */
export const formats: Record<string, Format> = {
  ...fullFormats,
  // Base64 with padding (RFC 4648 section 4). ajv-formats accepts a multi-line text as soon as one of its lines is base64.
  byte: /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/,
  // ajv-formats also accepts white space instead of the T, and the offsets +01 and +0100 (RFC 3339 section 5.6).
  'date-time': within(/^.{10}t.*(?:z|[+-]\d\d:\d\d)$/i, withoutFraction(fullFormats['date-time'] as Format)),
  time: within(/(?:z|[+-]\d\d:\d\d)$/i, withoutFraction(fullFormats.time as Format)),
  // ajv-formats requires a dot in the domain, but a host of one label, such as localhost, is one (RFC 5321 section 2.3.5).
  email: new RegExp(`^${word}(?:\\.${word})*@${label}(?:\\.${label})*$`, 'i'),
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

/**
 * Matches syntax of other dialects to which ECMA-262 without the flag u gives another meaning instead of an error: an
 * escaped letter that it does not define, such as `\p`, classes inside of classes, such as `[[:alpha:]]` and
 * `[a-z&&[^b]]`, and a quantifier such as `{,5}`.
 */
const foreign =
  /\\(?![dDwWsSbBfnrtv]|c[A-Za-z]|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4})[A-Za-z]|\[[^\]]*(?:\[:|&&)|\{(?!\d+(?:,\d*)?\})[\d, ]*\d[\d, ]*\}/

/** What other dialects write in another way. */
const translations: Record<string, string> = { '\\A': '^', '\\z': '$', '\\Z': '$', '(?P<': '(?<' }

/**
 * Compiles a regular expression of a schema: with the flag u, or else without it. Many documents escape characters
 * needlessly, as in `[\-\:]`, which the flag forbids. Translates what another dialect means for certain: `\A`, `\z`,
 * `\Z`, `(?P<name>…)`, and `(?i)` or `(?s)` at the start. Throws a SyntaxError for any other text that is not a regular
 * expression of ECMA-262.
 */
export function compilePattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u')
  } catch {
    const [start, flags = ''] = /^\^?\(\?([is]+)\)/.exec(text) ?? ['']
    const rest = (start.startsWith('^') ? '^' : '') + text.slice(start.length)
    const source = rest.replace(/\\.|\[(?:\\.|[^\]\\])*\]|\(\?P</gs, (token) => translations[token] ?? token)
    try {
      return new RegExp(source, `${flags}u`)
    } catch (error) {
      if (foreign.test(source.replaceAll('\\\\', ''))) throw error
      return new RegExp(source, flags)
    }
  }
}
