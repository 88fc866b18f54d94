/** Why a text is not JSON, or not I-JSON (RFC 7493), and at which character. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
}

/** A number as the grammar of RFC 8259 section 6 has it, where the expression is to begin. */
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 section 7 wants them escaped in a string
const notPlain = /[\\\u0000-\u001f]/

// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const plain = /[^"\\\u0000-\u001f]*/y

const escapes: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Reads the tokens of a JSON text from left to right; throws a JsonError where there is none. */
export class JsonScanner {
  #at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
    this.#skipSpace()
  }

  /** Returns the next character that is no white space, undefined at the end. */
  peek(): string | undefined {
    return this.#text[this.#at]
  }

  /** Reads the next character when it is this one. */
  take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    this.#skipSpace()
    return true
  }

  expect(character: string): void {
    if (!this.take(character)) throw this.unexpected()
  }

  word<T>(literal: string, value: T): T {
    if (!this.#text.startsWith(literal, this.#at)) throw this.unexpected()
    this.#at += literal.length
    this.#skipSpace()
    return value
  }

  /** Reads a number and returns its text. */
  number(): string {
    const digits = this.#match(number)
    if (digits === '') throw this.unexpected()
    this.#skipSpace()
    return digits
  }

  /** Reads a string and returns its value: without lone surrogates (RFC 7493 section 2.1), and without NUL. */
  string(): string {
    if (this.peek() !== '"') throw this.unexpected()
    const start = this.#at + 1
    const end = this.#text.indexOf('"', start)
    const value = this.#text.slice(start, end)
    if (end === -1 || notPlain.test(value)) return this.#escapedString()
    this.#at = end + 1
    this.#skipSpace()
    return value
  }

  refused(what: string): JsonError {
    return new JsonError(`${what} at character ${this.#at}`)
  }

  unexpected(): JsonError {
    return this.refused(this.peek() === undefined ? 'unexpected end' : 'unexpected character')
  }

  #escapedString(): string {
    this.#at++
    let value = this.#match(plain)
    while (this.peek() === '\\') value += this.#escaped() + this.#match(plain)
    if (value.includes('\0')) throw this.refused('a NUL in a string')
    if (!value.isWellFormed()) throw this.refused('a lone surrogate in a string')
    this.expect('"')
    return value
  }

  #escaped(): string {
    const code = this.#text[this.#at + 1] ?? ''
    const digits = this.#text.slice(this.#at + 2, this.#at + 6)
    const unicode = code === 'u' && /^[\da-f]{4}$/i.test(digits)
    const value = unicode ? String.fromCharCode(Number.parseInt(digits, 16)) : escapes[code]
    if (value === undefined) throw this.unexpected()
    this.#at += unicode ? 6 : 2
    return value
  }

  #match(pattern: RegExp): string {
    const start = this.#at
    pattern.lastIndex = start
    // In the place where it ends: an array of what was found is dearer than the text.
    if (pattern.test(this.#text)) this.#at = pattern.lastIndex
    return this.#text.slice(start, this.#at)
  }

  #skipSpace(): void {
    const text = this.#text
    let at = this.#at
    while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
    this.#at = at
  }
}
