import { type JsonDocument, mayBeInexact, setExactNumber } from './json-document.ts'

/** Maximum nesting depth; RFC 8259 section 9 allows a parser to set one. */
export const maxDepth = 128

/** Up to this many names of an object are compared one by one, which costs less than a set. */
const maxListed = 8

/** The rest of a number after its integer digits (RFC 8259 section 6). */
const fractionAndExponent = /(?:\.\d+)?(?:[eE][+-]?\d+)?/y
/** Valid escapes (RFC 8259 section 7), then the escapes of NUL and lone surrogates, which are rejected. */
const escaped =
  /\\(?:["\\/bfnrt]|u(?!0000|[dD][89a-fA-F])[\da-fA-F]{4}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})/y
const escapedNul = /\\u0000/y
const escapedSurrogate = /\\u[dD][89a-fA-F][\da-fA-F]{2}/y
/** An escape that may be rejected: whether a surrogate is a lone one is not seen here. */
const rejectedEscape = new RegExp(`${escapedNul.source}|${escapedSurrogate.source}`)

const space = 0x20
const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const decimalPoint = 0x2e
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const bracket = 0x5b
const backslash = 0x5c

/** Whitespace (RFC 8259 section 2): space, line feed, carriage return, tab. */
const isSpace = (code: number) => code === space || code === 0x0a || code === 0x0d || code === 0x09

/** Reports why a text is not JSON or not I-JSON (RFC 7493), and at which character. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly problem: string
  readonly at: number | undefined

  constructor(problem: string, at?: number) {
    super(at === undefined ? problem : `${problem} at character ${at}`)
    this.problem = problem
    this.at = at
  }
}

/** The path to an object or array: its key in its holder, and the path of the holder; undefined for the document. */
export type ValuePath = { holder: ValuePath | undefined; key: string | number; value?: object }

/** A number whose double may have a different value, with its text and location. */
export type InexactNumber = { holder: ValuePath | undefined; key: string | number; text: string }

/**
 * Parses a JSON text like JSON.parse, and keeps its inexact numbers exactly. Throws a JsonError for a text that
 * `validateJson` rejects.
 *
 * JSON.parse builds the value, because in V8 an array that grows by push allocates 17 slots, and an object that gets an
 * index key by assignment allocates 12 KB.
 */
export function parseJson(text: string): JsonDocument {
  const plain = plainValue(text)
  if (plain !== undefined) return { value: plain, length: text.length }
  const numbers = validateJson(text)
  const document: JsonDocument = { value: JSON.parse(text), length: text.length }
  for (const { holder, key, text: exact } of numbers) setExactNumber(document, objectAt(document, holder), key, exact)
  return document
}

/**
 * Returns the value of a text that is surely I-JSON without inexact numbers; undefined if only `validateJson` can
 * tell, which takes several times as long.
 */
function plainValue(text: string): unknown {
  if (!text.isWellFormed() || hasRejectedEscape(text) || hasNegativeExponent(text) || hasInexactDecimal(text)) {
    return undefined
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  // `nameCount` is never too low, and `memberCount` lacks duplicates. So equal counts prove that there is no duplicate.
  return memberCount(value, maxDepth) === nameCount(text) ? value : undefined
}

/** Returns whether a text has an escape that may be rejected. Most texts have none, and no regular expression runs. */
const hasRejectedEscape = (text: string): boolean => text.includes('\\') && rejectedEscape.test(text)

/** Returns whether a number of a text may have a negative exponent, and so be too small for a double. */
function hasNegativeExponent(text: string): boolean {
  for (let at = text.indexOf('-'); at !== -1; at = text.indexOf('-', at + 1)) {
    if (!isExponent(text.charCodeAt(at - 1))) continue
    let start = at - 1
    while (isDecimal(text.charCodeAt(start - 1))) start--
    if (start < at - 1 && mayBeNumber(text, start)) return true
  }
  return false
}

/**
 * Returns whether a number may begin at a digit, or at the minus before it. In JSON only whitespace, a comma, a colon or
 * a bracket precedes a number. After any other character the digits are in a string, such as an identifier.
 */
function mayBeNumber(text: string, start: number): boolean {
  const before = text.charCodeAt(text.charCodeAt(start - 1) === minus ? start - 2 : start - 1)
  return Number.isNaN(before) || isSpace(before) || before === comma || before === colon || before === bracket
}

const isExponent = (code: number) => code === 0x65 || code === 0x45

/**
 * Returns whether a run of 16 or more digits and decimal points may be an inexact number. A shorter number without a
 * negative exponent is exact if its double is a safe integer or no integer, since a double holds any 15 digits.
 */
function hasInexactDecimal(text: string): boolean {
  // Each run of 16 characters contains one of these indexes.
  for (let at = 15; at < text.length; at += 16) {
    if (!isDecimal(text.charCodeAt(at))) continue
    let start = at
    while (isDecimal(text.charCodeAt(start - 1))) start--
    while (isDecimal(text.charCodeAt(at + 1))) at++
    if (at - start < 15 || !mayBeNumber(text, start)) continue
    if (isExponent(text.charCodeAt(at + 1))) return true
    if (!isFraction(text, start) && mayBeInexact(text.slice(start, at + 1))) return true
  }
  return false
}

/**
 * Returns whether a run of at least 16 digits is surely no integer, and neither is its double: it has at most 13 digits
 * before the point, so its double is off by less than 0.001, and its first two decimals are from 01 to 98.
 */
function isFraction(text: string, start: number): boolean {
  let point = start
  while (point - start < 13 && text.charCodeAt(point) !== decimalPoint) point++
  if (text.charCodeAt(point) !== decimalPoint) return false
  const decimals = 10 * (text.charCodeAt(point + 1) - zero) + text.charCodeAt(point + 2) - zero
  return decimals >= 1 && decimals <= 98
}

/** Whether a character is a digit or a decimal point. */
const isDecimal = (code: number) => (code >= zero && code <= nine) || code === decimalPoint

/** Returns how many colons of a text follow a quote, as the colon after each name does; strings may add to them. */
function nameCount(text: string): number {
  let count = 0
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) {
    let before = at - 1
    while (isSpace(text.charCodeAt(before))) before--
    if (text.charCodeAt(before) === quote) count++
  }
  return count
}

/**
 * Returns how many members the objects in a value have; -Infinity if it is nested deeper than `levels`, or has a number
 * beyond the integers that a double holds exactly. Only objects and arrays cost a call: V8 copies this into `membersOf`.
 */
function memberCount(value: unknown, levels: number): number {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? 0 : Number.NEGATIVE_INFINITY
  if (typeof value !== 'object' || value === null) return 0
  return levels === 0 ? Number.NEGATIVE_INFINITY : membersOf(value, levels - 1)
}

function membersOf(value: object, levels: number): number {
  let count = 0
  if (Array.isArray(value)) for (const item of value) count += memberCount(item, levels)
  else for (const name in value) count += 1 + memberCount((value as Record<string, unknown>)[name], levels)
  return count
}

/** Returns the object or array at a path, and keeps it in the path for the next number there. */
function objectAt(document: JsonDocument, path: ValuePath | undefined): object {
  if (path === undefined) return document
  path.value ??= (objectAt(document, path.holder) as Record<string | number, object>)[path.key] as object
  return path.value
}

/**
 * Validates a JSON text (RFC 8259) without building its value, and returns its inexact numbers. Throws a JsonError for
 * text that is not JSON or not I-JSON (RFC 7493 sections 2.1 and 2.3: no duplicate names, no lone surrogates), for a
 * NUL in a string, and for more than 128 levels.
 */
export const validateJson = (text: string): InexactNumber[] => new JsonValidator(text).run()

/** One validation of a text. In hot loops it compares character codes, since regular expressions would be slower. */
class JsonValidator {
  #at = 0
  readonly #text: string
  readonly #found: InexactNumber[] = []
  /** By depth: the current key, and its holder, which is created for the first inexact number below it. */
  readonly #keys: (string | number)[] = ['value']
  readonly #holders: (ValuePath | undefined)[] = [undefined]

  constructor(text: string) {
    this.#text = text
  }

  run(): InexactNumber[] {
    if (!this.#text.isWellFormed()) throw this.#error('a lone surrogate')
    this.#skipSpace()
    this.#value(0)
    if (this.#at < this.#text.length) throw this.#unexpected()
    return this.#found
  }

  #value(depth: number): void {
    const first = this.#text[this.#at]
    if (first === '"') this.#string()
    else if (first === '{') this.#object(this.#enter(depth))
    else if (first === '[') this.#array(this.#enter(depth))
    else if (first === 't') this.#word('true')
    else if (first === 'f') this.#word('false')
    else if (first === 'n') this.#word('null')
    else this.#number(depth)
    this.#skipSpace()
  }

  /** Returns the depth of the members of an object or array at a depth, and skips its first character. */
  #enter(depth: number): number {
    if (depth === maxDepth) throw this.#error(`nesting deeper than ${maxDepth} levels`)
    this.#holders[depth + 1] = undefined
    this.#at++
    this.#skipSpace()
    return depth + 1
  }

  #object(depth: number): void {
    if (this.#take('}')) return
    let names: string[] | Set<string> = []
    do {
      this.#skipSpace()
      const name = this.#name()
      const isRepeated = Array.isArray(names) ? names.includes(name) : names.has(name)
      if (isRepeated) throw this.#error('the same name twice in one object')
      if (!Array.isArray(names)) names.add(name)
      else if (names.push(name) > maxListed) names = new Set(names)
      this.#expect(':')
      this.#skipSpace()
      this.#keys[depth] = name
      this.#value(depth)
    } while (this.#take(','))
    this.#expect('}')
  }

  #array(depth: number): void {
    if (this.#take(']')) return
    let index = 0
    do {
      this.#skipSpace()
      this.#keys[depth] = index++
      this.#value(depth)
    } while (this.#take(','))
    this.#expect(']')
  }

  /** Checks a number. An integer of at most 15 characters has an exact double. */
  #number(depth: number): void {
    const start = this.#at
    if (this.#text.charCodeAt(start) === minus) this.#at++
    this.#digits()
    const end = this.#at
    this.#match(fractionAndExponent)
    if (this.#at === end && end - start <= 15) return
    const text = this.#text.slice(start, this.#at)
    if (!mayBeInexact(text)) return
    this.#found.push({ holder: this.#holder(depth), key: this.#keys[depth] as string | number, text })
  }

  #holder(depth: number): ValuePath | undefined {
    if (depth === 0) return undefined
    this.#holders[depth] ??= { holder: this.#holder(depth - 1), key: this.#keys[depth - 1] as string | number }
    return this.#holders[depth]
  }

  #digits(): void {
    const text = this.#text
    const start = this.#at
    let at = start
    // No digit may follow a leading zero.
    if (text.charCodeAt(at) === zero) at++
    else while (text.charCodeAt(at) >= zero && text.charCodeAt(at) <= nine) at++
    this.#at = at
    if (at === start) throw this.#unexpected()
  }

  #word(literal: string): void {
    if (!this.#text.startsWith(literal, this.#at)) throw this.#unexpected()
    this.#at += literal.length
  }

  /** Checks the name of a member and returns it. */
  #name(): string {
    const start = this.#at
    const hasEscape = this.#string()
    const text = this.#text.slice(start, this.#at)
    this.#skipSpace()
    return hasEscape ? JSON.parse(text) : text.slice(1, -1)
  }

  /** Checks a string, which must not have NUL or lone surrogates. Returns whether it has an escape. */
  #string(): boolean {
    this.#expect('"')
    const text = this.#text
    let hasEscape = false
    for (;;) {
      let at = this.#at
      let code = text.charCodeAt(at)
      while (code >= space && code !== quote && code !== backslash) code = text.charCodeAt(++at)
      this.#at = at
      if (code === quote) break
      if (code !== backslash) throw this.#unexpected()
      hasEscape = true
      this.#escape()
    }
    this.#at++
    return hasEscape
  }

  #escape(): void {
    if (this.#match(escaped)) return
    if (this.#match(escapedNul)) throw this.#error('a NUL in a string')
    if (this.#match(escapedSurrogate)) throw this.#error('a lone surrogate in a string')
    throw this.#unexpected()
  }

  /** Skips the next character if it is `character`, and returns whether it was. */
  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #expect(character: string): void {
    if (!this.#take(character)) throw this.#unexpected()
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    const isMatch = pattern.test(this.#text)
    if (isMatch) this.#at = pattern.lastIndex
    return isMatch
  }

  #skipSpace(): void {
    const text = this.#text
    let at = this.#at
    while (isSpace(text.charCodeAt(at))) at++
    this.#at = at
  }

  #error(problem: string): JsonError {
    return new JsonError(problem, this.#at)
  }

  #unexpected(): JsonError {
    return this.#error(this.#at < this.#text.length ? 'unexpected character' : 'unexpected end')
  }
}
