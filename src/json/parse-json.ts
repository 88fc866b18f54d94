import { JsonScanner } from './json-scanner.ts'

/** Deeper nesting is refused (RFC 8259 section 9 lets a parser set a limit). */
const maxDepth = 128

/** A parsed document: the value has a place, like every value inside it. */
export type JsonDocument = { value: unknown }

const inexact = new WeakMap<object, Map<string | number, string>>()

/**
 * The text of a number that may have become a double of another value, by the object or array that holds it and its key
 * there; undefined when the double is exact or no integer.
 */
export const inexactNumber = (holder: object, key: string | number): string | undefined => inexact.get(holder)?.get(key)

/** A property as an assignment makes it. */
const ordinary = { enumerable: true, writable: true, configurable: true }

/**
 * Takes a JSON text (RFC 8259); gives its value, as JSON.parse would, and keeps the text of every integer that a double
 * may not hold. Throws a ContractError for what is not JSON or not I-JSON (RFC 7493 sections 2.1 and 2.3): a name twice
 * in one object, a lone surrogate; also for a NUL in a string and for more than 128 levels.
 */
export function parseJson(text: string): JsonDocument {
  const scanner = new JsonScanner(text)
  let inexactText = ''
  const document: JsonDocument = { value: undefined }
  document.value = value(0)
  keepInexact(document, 'value')
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
      keepInexact(object, key)
    } while (scanner.take(','))
    scanner.expect('}')
    return object
  }

  function array(depth: number): unknown[] {
    const array: unknown[] = []
    scanner.expect('[')
    if (scanner.take(']')) return array
    do {
      array.push(value(depth))
      keepInexact(array, array.length - 1)
    } while (scanner.take(','))
    scanner.expect(']')
    return array
  }

  function number(): number {
    const digits = scanner.number()
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
}
