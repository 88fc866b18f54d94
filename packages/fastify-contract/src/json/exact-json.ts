import { integerOf } from './decimal.ts'

/**
 * Matches what precedes a number of JSON, and a number that may be an integer which no double holds: one that begins with
 * 16 digits, or has a positive exponent. Strings have such texts, too.
 */
const mayBeWide = /(^|[:,[\s])(-?(?:\d{16}|\d[\d.]*[eE]\+?\d)[\d.eE+-]*)/g

/**
 * Parses a text as JSON.parse does, but returns each integer beyond the safe ones as a bigint, as `wideInteger` does.
 * `parseJson` is for texts of clients: it also rejects what is not I-JSON.
 */
export function parseExactJson(text: string): unknown {
  const mark = globalThis.crypto.randomUUID()
  let isMarked = false
  let isInString = false
  let quote = text.indexOf('"')
  const marked = text.replace(mayBeWide, function markWide(found: string, before: string, token: string, at: number) {
    for (; quote !== -1 && quote < at; quote = text.indexOf('"', quote + 1))
      if (!isInString || !isEscaped(text, quote)) isInString = !isInString
    const integer = isInString ? undefined : wideInteger(token)
    if (integer === undefined) return found
    isMarked = true
    return `${before}"${mark}${integer}"`
  })
  if (!isMarked) return JSON.parse(text)
  return JSON.parse(marked, function exactValue(name, value) {
    if (name.startsWith(mark)) throw new SyntaxError('the name of a member is a number; quote it')
    return typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value
  })
}

/** Returns whether an odd number of backslashes precedes a character of a JSON string. */
export function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text[before] === '\\') before--
  return (at - before) % 2 === 0
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
