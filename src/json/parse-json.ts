import { JsonScanner } from './json-scanner.ts'

/** Deeper nesting is refused (RFC 8259 section 9 lets a parser set a limit). */
const maxDepth = 128

/** A parsed document: the value has a place, like every value inside it. */
export type JsonDocument = { value: unknown }

const inexact = new WeakMap<object, Map<string | number, string>>()

/**
 * Returns the text of a number that may have become a double of another value, by the object or array that holds it and
 * its key there; undefined when the double is exact or no integer.
 */
export const inexactNumber = (holder: object, key: string | number): string | undefined => inexact.get(holder)?.get(key)

/** Keeps the text of a number for `inexactNumber`, unless its double is exact or no integer. */
export function keepDigits(holder: object, key: string | number, double: number, digits: string): void {
  // 15 digits always fit.
  if (!Number.isInteger(double) || (digits.length <= 15 && !/[.eE]/.test(digits))) return
  const kept = inexact.get(holder) ?? new Map<string | number, string>()
  inexact.set(holder, kept.set(key, digits))
}

/** A property as an assignment makes it. */
const ordinary = { enumerable: true, writable: true, configurable: true }

/**
 * Returns the value of a JSON text (RFC 8259) as JSON.parse would, and keeps the text of every integer that a double may
 * not hold. Throws a JsonError for what is not JSON or not I-JSON (RFC 7493 sections 2.1 and 2.3): a name twice
 * in one object, a lone surrogate; also for a NUL in a string and for more than 128 levels.
 */
export function parseJson(text: string): JsonDocument {
  const scanner = new JsonScanner(text)
  /** The digits of the last number, until its holder is known. */
  let digits = ''
  const document: JsonDocument = { value: undefined }
  document.value = value(0)
  keep(document, 'value', document.value)
  if (scanner.peek() !== undefined) throw scanner.unexpected()
  return document

  function value(depth: number): unknown {
    switch (scanner.peek()) {
      case '"':
        return scanner.string()
      case '{':
        return object(below(depth))
      case '[':
        return array(below(depth))
      case 't':
        return scanner.word('true', true)
      case 'f':
        return scanner.word('false', false)
      case 'n':
        return scanner.word('null', null)
      default:
        return number()
    }
  }

  function below(depth: number): number {
    if (depth === maxDepth) throw scanner.refused(`more than ${maxDepth} levels`)
    return depth + 1
  }

  function object(depth: number): object {
    const object: Record<string, unknown> = {}
    scanner.expect('{')
    if (scanner.take('}')) return object
    do {
      const key = scanner.string()
      if (Object.hasOwn(object, key)) throw scanner.refused('the same name twice in one object')
      scanner.expect(':')
      const member = value(depth)
      // An assignment to this name would set the prototype.
      if (key === '__proto__') Object.defineProperty(object, key, { value: member, ...ordinary })
      else object[key] = member
      keep(object, key, member)
    } while (scanner.take(','))
    scanner.expect('}')
    return object
  }

  function array(depth: number): unknown[] {
    const array: unknown[] = []
    scanner.expect('[')
    if (scanner.take(']')) return array
    do {
      const item = value(depth)
      keep(array, array.push(item) - 1, item)
    } while (scanner.take(','))
    scanner.expect(']')
    return array
  }

  function number(): number {
    digits = scanner.number()
    return Number(digits)
  }

  function keep(holder: object, key: string | number, value: unknown): void {
    if (typeof value === 'number') keepDigits(holder, key, value, digits)
  }
}
