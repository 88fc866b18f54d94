import { integerOf } from './decimal.ts'

/** Matches a string or a number of JSON. */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/**
 * Matches each text with an integer that a double may not hold: it begins with 16 digits, or has a positive exponent. An
 * identifier or a date in a string is none.
 */
const mayHaveWide = /(?:^|[:,[\s])-?(?:\d{16}|\d[\d.]*[eE]\+?\d+(?![\w.-]))/

/**
 * Parses a text as JSON.parse does, but returns each integer beyond the safe ones as a bigint, as `wideInteger` does.
 * `parseJson` is for texts of clients: it also rejects what is not I-JSON.
 */
export function parseExactJson(text: string): unknown {
  if (!mayHaveWide.test(text)) return JSON.parse(text)
  const mark = globalThis.crypto.randomUUID()
  let isMarked = false
  const marked = text.replace(stringOrNumber, function markWide(token) {
    const integer = token.startsWith('"') ? undefined : wideInteger(token)
    if (integer === undefined) return token
    isMarked = true
    return `"${mark}${integer}"`
  })
  if (!isMarked) return JSON.parse(text)
  return JSON.parse(marked, function exactValue(name, value) {
    if (name.startsWith(mark)) throw new SyntaxError('the name of a member is a number; quote it')
    return typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value
  })
}

/**
 * Returns the value of a JSON number that is an integer beyond the safe ones; undefined for any other text, for an
 * integer beyond the doubles, and for one with an exponent and more than 20 digits: programs write doubles so.
 */
export function wideInteger(text: string): bigint | undefined {
  const double = Number(text)
  if (!Number.isFinite(double) || Number.isSafeInteger(double)) return undefined
  return /^-?[1-9]\d*$/.test(text) ? BigInt(text) : integerOf(text)
}
