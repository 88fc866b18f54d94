import { type AST, RegExpParser } from '@eslint-community/regexpp'
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
 * escaped letter that it does not define, such as `\h`, classes inside of classes, such as `[[:^alpha:]]` and
 * `[a-z&&[^b]]`, and a quantifier such as `{,5}`.
 */
const foreign =
  /\\(?![dDwWsSbBfnrtv]|c[A-Za-z]|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4})[A-Za-z]|\[[^\]]*(?:\[:|&&)|\{(?!\d+(?:,\d*)?\})[\d, ]*\d[\d, ]*\}/

/** What other dialects write in another way. */
const translations: Record<string, string> = { '\\A': '^', '\\z': '$', '\\Z': '$', '(?P<': '(?<' }

/** The classes of POSIX, which are inside of brackets (POSIX.1 section 9.3.5, in the locale C). */
const posixClasses = new Map(
  Object.entries({
    alnum: '\\dA-Za-z',
    alpha: 'A-Za-z',
    blank: ' \\t',
    cntrl: '\\0-\\x1F\\x7F',
    digit: '\\d',
    graph: '!-~',
    lower: 'a-z',
    print: ' -~',
    punct: '!-\\/:-@\\[-`{-~',
    space: ' \\t-\\r',
    upper: 'A-Z',
    word: '\\w',
    xdigit: '\\dA-Fa-f',
  }),
)

/** Names of Unicode properties that only java.util.regex has, with those of ECMA-262. */
const javaProperties = new Map(
  Object.entries({
    Letter: 'L',
    Digit: 'Nd',
    Punctuation: 'P',
    Control: 'Cc',
    Alphabetic: 'Alphabetic',
    Lowercase: 'Lowercase',
    Uppercase: 'Uppercase',
    Latin: 'Script=Latin',
  }),
)

/** A part of a pattern: a class, a Unicode property, another escape, or the start of a named group. */
const token = /\[(?:\[:\w+:\]|\\.|[^\]\\])*\]|\\[pP](?:[CZL-NPS]|\{Is\w+\})|\\.|\(\?P</gs

/** A class of POSIX, a Unicode property without braces, or one that Java names, each perhaps in a class. */
const foreignClass = /\[:(\w+):\]|\\([pP])(?:([CZL-NPS])|\{Is(\w+)\})|\\./gs

function translatedClass(text: string, posix = '', property = '', letter = '', java = ''): string {
  const category = letter || /^[CZL-NPS][a-z]?$/.exec(java)?.[0] || javaProperties.get(java)
  return category === undefined ? (posixClasses.get(posix) ?? text) : `\\${property}{${category}}`
}

/**
 * Compiles a regular expression of a schema: with the flag u, or else without it. Many documents escape characters
 * needlessly, as in `[\-\:]`, which the flag forbids. Translates what another dialect means for certain: `\A`, `\z`,
 * `\Z`, `(?P<name>…)`, `[[:alpha:]]`, `\pL`, `\p{IsLetter}`, and `(?i)` or `(?s)` at the start. Throws a SyntaxError for any other text that is not a regular
 * expression of ECMA-262.
 */
export function compilePattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u')
  } catch {
    const [start, flags = ''] = /^\^?\(\?([is]+)\)/.exec(text) ?? ['']
    const rest = (start.startsWith('^') ? '^' : '') + text.slice(start.length)
    const source = rest.replace(token, (part) => translations[part] ?? part.replace(foreignClass, translatedClass))
    try {
      return new RegExp(source, `${flags}u`)
    } catch (error) {
      if (foreign.test(source.replaceAll('\\\\', ''))) throw error
      return new RegExp(source, flags)
    }
  }
}

/** The syntax tree of a pattern, and its parts. */
export type PatternSyntax = AST.Pattern
export type PatternAlternative = AST.Alternative
export type PatternElement = AST.Element

const parser = new RegExpParser({ ecmaVersion: 2025 })

/** Returns the syntax tree of a compiled pattern. Throws a SyntaxError for syntax that is newer than ECMAScript 2025. */
export const syntaxOf = ({ source, unicode }: RegExp): PatternSyntax =>
  parser.parsePattern(source, 0, source.length, { unicode })
