import { JsonError } from './json-error.ts'

/** The rest of a number after its integer digits (RFC 8259 section 6). */
const fractionAndExponent = /(?:\.\d+)?(?:[eE][+-]?\d+)?/y
/** Valid escapes (RFC 8259 section 7), then the escapes of NUL and lone surrogates, which are rejected. */
const escaped =
  /\\(?:["\\/bfnrt]|u(?!0000|[dD][89a-fA-F])[\da-fA-F]{4}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})/y
const escapedNul = /\\u0000/y
const escapedSurrogate = /\\u[dD][89a-fA-F][\da-fA-F]{2}/y

const space = 0x20
const quote = 0x22
const minus = 0x2d
const zero = 0x30
const nine = 0x39
const backslash = 0x5c

/** Whitespace (RFC 8259 section 2): space, line feed, carriage return, tab. */
const isSpace = (code: number) => code === space || code === 0x0a || code === 0x0d || code === 0x09

/**
 * Scans the tokens of a JSON text from left to right. Throws a JsonError at the first invalid one. In hot loops it
 * compares character codes, since regular expressions would be slower.
 */
export class JsonScanner {
  #at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
    if (!text.isWellFormed()) throw this.error('a lone surrogate')
    this.#skipSpace()
  }

  /** Returns the next character that is not whitespace; undefined at the end. */
  peek(): string | undefined {
    return this.#text[this.#at]
  }

  /** Skips the next character if it is `character`, and returns whether it was. */
  take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    this.#skipSpace()
    return true
  }

  expect(character: string): void {
    if (!this.take(character)) throw this.unexpected()
  }

  word(literal: string): void {
    if (!this.#text.startsWith(literal, this.#at)) throw this.unexpected()
    this.#at += literal.length
    this.#skipSpace()
  }

  /** Skips a number. Returns its text unless it is an integer of at most 15 characters, whose double is exact. */
  number(): string | undefined {
    const start = this.#at
    if (this.#text.charCodeAt(start) === minus) this.#at++
    this.#digits()
    const end = this.#at
    this.#match(fractionAndExponent)
    const text = this.#at > end || end - start > 15 ? this.#text.slice(start, this.#at) : undefined
    this.#skipSpace()
    return text
  }

  /** Skips a string and returns its value. */
  name(): string {
    const start = this.#at
    const hasEscape = this.#string()
    const end = this.#at
    this.#skipSpace()
    return hasEscape ? JSON.parse(this.#text.slice(start, end)) : this.#text.slice(start + 1, end - 1)
  }

  /** Skips a string, which must not have lone surrogates (RFC 7493 section 2.1) or NUL. */
  string(): void {
    this.#string()
    this.#skipSpace()
  }

  error(problem: string): JsonError {
    return new JsonError(`${problem} at character ${this.#at}`)
  }

  unexpected(): JsonError {
    return this.error(this.peek() === undefined ? 'unexpected end' : 'unexpected character')
  }

  #digits(): void {
    const text = this.#text
    const start = this.#at
    let at = start
    // No digit may follow a leading zero.
    if (text.charCodeAt(at) === zero) at++
    else while (text.charCodeAt(at) >= zero && text.charCodeAt(at) <= nine) at++
    this.#at = at
    if (at === start) throw this.unexpected()
  }

  /** Skips a string and returns whether it has an escape. */
  #string(): boolean {
    if (this.peek() !== '"') throw this.unexpected()
    this.#at++
    let hasEscape = false
    for (;;) {
      this.#plain()
      const code = this.#text.charCodeAt(this.#at)
      if (code === quote) break
      if (code !== backslash) throw this.unexpected()
      hasEscape = true
      this.#escape()
    }
    this.#at++
    return hasEscape
  }

  /** Skips unescaped characters of a string. */
  #plain(): void {
    const text = this.#text
    let at = this.#at
    let code = text.charCodeAt(at)
    while (code >= space && code !== quote && code !== backslash) code = text.charCodeAt(++at)
    this.#at = at
  }

  #escape(): void {
    if (this.#match(escaped)) return
    if (this.#match(escapedNul)) throw this.error('a NUL in a string')
    if (this.#match(escapedSurrogate)) throw this.error('a lone surrogate in a string')
    throw this.unexpected()
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
}
