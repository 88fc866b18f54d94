import { ContractError } from './errors.ts'

/** Deeper nesting is refused (RFC 8259 section 9 lets a parser set a limit). */
const maxDepth = 128

/** A number as the grammar of RFC 8259 section 6 has it. */
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

const plain = /[^"\\\u0000-\u001f]*/y

const escapes: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/** A parsed document: the value has a place, like every value inside it. */
export type JsonDocument = { value: unknown }

const inexact = new WeakMap<object, Map<string | number, string>>()

/**
 * The text of a number that became a double of another value, by the object or array that holds it and its key there;
 * undefined when the double is exact.
 */
export const inexactNumber = (holder: object, key: string | number): string | undefined => inexact.get(holder)?.get(key)

/**
 * Takes a JSON text (RFC 8259); gives its value, as JSON.parse would, and keeps the text of every integer that a double
 * does not hold. Throws a ContractError for what is not JSON or not I-JSON (RFC 7493 sections 2.1 and 2.3): a name
 * twice in one object, a lone surrogate; also for a NUL in a string and for more than 128 levels.
 */
export function parseJson(text: string): JsonDocument {
  let at = 0
  let inexactText = ''
  const document: JsonDocument = { value: undefined }

  space()
  document.value = value(0)
  keepInexact(document, 'value')
  space()
  if (at < text.length) throw unexpected()
  return document

  function value(depth: number): unknown {
    switch (text[at]) {
      case '"':
        return string()
      case '{':
        return object(depth + 1)
      case '[':
        return array(depth + 1)
      case 't':
        return word('true', true)
      case 'f':
        return word('false', false)
      case 'n':
        return word('null', null)
      default:
        return numeric()
    }
  }

  function object(depth: number): object {
    enter(depth)
    const object: Record<string, unknown> = {}
    if (take('}')) return object
    do {
      space()
      if (text[at] !== '"') throw unexpected()
      const key = string()
      if (Object.hasOwn(object, key)) throw refused('the same name twice in one object')
      space()
      if (!take(':')) throw unexpected()
      space()
      const member = value(depth)
      // An assignment to this name would set the prototype.
      if (key === '__proto__') Object.defineProperty(object, key, { value: member, enumerable: true })
      else object[key] = member
      keepInexact(object, key)
      space()
    } while (take(','))
    if (!take('}')) throw unexpected()
    return object
  }

  function array(depth: number): unknown[] {
    enter(depth)
    const array: unknown[] = []
    if (take(']')) return array
    do {
      space()
      array.push(value(depth))
      keepInexact(array, array.length - 1)
      space()
    } while (take(','))
    if (!take(']')) throw unexpected()
    return array
  }

  function string(): string {
    let result = ''
    at++
    for (;;) {
      result += match(plain)
      const next = text[at]
      if (next === '"') break
      if (next !== '\\') throw unexpected()
      const code = text[at + 1] ?? ''
      result += code === 'u' ? String.fromCharCode(hex()) : (escapes[code] ?? fail())
      at += 2
    }
    at++
    if (result.includes('\0')) throw refused('a NUL in a string')
    if (!result.isWellFormed()) throw refused('a lone surrogate in a string')
    return result
  }

  function hex(): number {
    const digits = text.slice(at + 2, at + 6)
    if (!/^[\da-f]{4}$/i.test(digits)) throw unexpected()
    at += 4
    return Number.parseInt(digits, 16)
  }

  function numeric(): number {
    const digits = match(number)
    if (digits === '') throw unexpected()
    const double = Number(digits)
    // 15 digits always fit; what is longer, or no plain integer, is kept as text where the double is an integer.
    if (Number.isInteger(double) && (digits.length > 15 || /[.eE]/.test(digits))) inexactText = digits
    return double
  }

  function keepInexact(holder: object, key: string | number): void {
    if (inexactText === '') return
    const kept = inexact.get(holder) ?? new Map<string | number, string>()
    inexact.set(holder, kept.set(key, inexactText))
    inexactText = ''
  }

  function word<T>(literal: string, result: T): T {
    if (!text.startsWith(literal, at)) throw unexpected()
    at += literal.length
    return result
  }

  function enter(depth: number): void {
    if (depth > maxDepth) throw refused(`more than ${maxDepth} levels`)
    at++
    space()
  }

  function match(pattern: RegExp): string {
    pattern.lastIndex = at
    const [found = ''] = pattern.exec(text) ?? []
    at += found.length
    return found
  }

  function space(): void {
    while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  }

  function take(character: string): boolean {
    if (text[at] !== character) return false
    at++
    return true
  }

  function fail(): never {
    throw unexpected()
  }

  function unexpected(): ContractError {
    return refused(at < text.length ? 'unexpected character' : 'unexpected end')
  }

  function refused(what: string): ContractError {
    return new ContractError('notJson', `body is not JSON: ${what} at character ${at}`)
  }
}
