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
  } else if (/^(true|false)$/.test(text) && types.includes('boolean')) setMember(holder, key, text === 'true')
  else if (isNull(text, types)) setMember(holder, key, null)
  else setMember(holder, key, text)
}

/** Returns whether a text represents a value of one of the types. */
export const isOfTypes = (text: string, types: readonly string[]): boolean =>
  types.includes('string') ||
  (number.test(text) && types.some((type) => type === 'integer' || type === 'number')) ||
  (/^(true|false)$/.test(text) && types.includes('boolean')) ||
  isNull(text, types)

/** Returns whether a text represents null. */
export const isNull = (text: string, types: readonly string[]): boolean =>
  text === '' && types.includes('null') && !types.includes('string')

/** Sets a member with any name. A plain assignment to __proto__ would set the prototype. */
export function setMember(holder: object, key: string | number, value: unknown): void {
  if (key !== '__proto__') (holder as Record<string | number, unknown>)[key] = value
  else Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true })
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
