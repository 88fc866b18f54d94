import { mayBeInexact } from '../json/exact-integer.ts'
import { type JsonDocument, keepDigits } from '../json/json-document.ts'

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
    if (mayBeInexact(text)) keepDigits(document, holder, key, text)
  } else if (/^(true|false)$/.test(text) && types.includes('boolean')) setMember(holder, key, text === 'true')
  else if (text === '' && types.includes('null') && !types.includes('string')) setMember(holder, key, null)
  else setMember(holder, key, text)
}

/** Sets a member with any name. A plain assignment to __proto__ would set the prototype. */
export function setMember(holder: object, key: string | number, value: unknown): void {
  if (key !== '__proto__') (holder as Record<string | number, unknown>)[key] = value
  else Object.defineProperty(holder, key, { value, enumerable: true, writable: true, configurable: true })
}
