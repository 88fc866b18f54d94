import { copyExactNumbers, type JsonDocument, mayBeInexact, setExactNumber } from '../json/json-document.ts'
import { type JsonError, parseJson } from '../json/parse-json.ts'

/**
 * Texts of a request by name: one text in a path or header, a list in a query, form or cookies. Names are decoded. The
 * decoder of the location decodes texts, since a list must be split before.
 */
export type Texts = Record<string, string | string[] | undefined>

/** A text that does not follow its style. The message begins with a verb, to follow the name of the value. */
export class TextError extends Error {
  override readonly name = 'TextError'
}

/** The grammar of a JSON number (RFC 8259 section 6). */
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Converts a text to the first of the types that it represents and its schema allows, else to a string, and sets it.
 */
export function setScalar(
  document: JsonDocument,
  holder: object,
  key: string | number,
  text: string,
  types: readonly string[],
): void {
  if (number.test(text) && types.some((type) => type === 'integer' || type === 'number')) {
    setMember(holder, key, Number(text))
    if (mayBeInexact(text)) setExactNumber(document, holder, key, text)
  } else if (isBoolean(text, types)) setMember(holder, key, /^(?:true|1)$/i.test(text))
  else if (isNull(text, types)) setMember(holder, key, null)
  else setMember(holder, key, text)
}

/**
 * Returns whether a text represents a boolean. OpenAPI leaves the texts of booleans to implementations (3.1.2 appendix B):
 * where the types allow no string, Python's `True` is a boolean, too, and so is the `1` of PHP.
 */
const isBoolean = (text: string, types: readonly string[]): boolean =>
  types.includes('boolean') && (types.includes('string') ? /^(?:true|false)$/ : spelledBoolean).test(text)

const spelledBoolean = /^(?:true|True|TRUE|false|False|FALSE|[01])$/

/** Returns whether a text represents a value of one of the types. A digit is rather a number than a boolean. */
export const isOfTypes = (text: string, types: readonly string[]): boolean =>
  types.includes('string') ||
  (number.test(text) && types.some((type) => type === 'integer' || type === 'number')) ||
  (text.length > 1 && isBoolean(text, types)) ||
  isNull(text, types)

/** Returns whether a text represents null: an empty text, or `null` as some clients write it. */
export const isNull = (text: string, types: readonly string[]): boolean =>
  (text === '' || text === 'null') && types.includes('null') && !types.includes('string')

/**
 * Returns the text of a date-time or time with a colon in its offset (RFC 3339 section 5.6), which clients of OpenAPI
 * Generator in Python leave out.
 */
export const timeText = (text: string): string => text.replace(/(:\d\d(?:\.\d+)?[+-]\d\d)(\d\d)$/, '$1:$2')

/** Sets a member with any name. A plain assignment to __proto__ would set the prototype. */
export function setMember(holder: object, key: string | number, value: unknown): void {
  if (key !== '__proto__') (holder as Record<string | number, unknown>)[key] = value
  else Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true })
}

/** Returns whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    parseJson(text)
    return true
  } catch {
    return false
  }
}

/** Parses a JSON text and sets its value with its exact numbers. Throws a TextError for other texts. */
export function setJson(document: JsonDocument, holder: object, key: string | number, text: string): void {
  let parsed: JsonDocument
  try {
    parsed = parseJson(text)
  } catch (error) {
    throw new TextError(`cannot be parsed as JSON: ${(error as JsonError).message}`)
  }
  copyExactNumbers(parsed, parsed, { document, holder, key })
  setMember(holder, key, parsed.value)
}
