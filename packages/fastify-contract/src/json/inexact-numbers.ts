import { mayBeInexact } from './exact-integer.ts'
import { JsonScanner } from './json-scanner.ts'

/** The path to an object or array: its key in its holder, and the path of the holder; undefined for the document. */
export type ValuePath = { holder: ValuePath | undefined; key: string | number; value?: object }

/** A number whose double may have a different value, with its text and location. */
export type InexactNumber = { holder: ValuePath | undefined; key: string | number; text: string }

/** Maximum nesting depth; RFC 8259 section 9 allows a parser to set one. */
const maxDepth = 128

/** Up to this many names of an object are compared one by one, which costs less than a set. */
const maxListed = 8

/**
 * Checks a JSON text (RFC 8259) and returns its inexact numbers, without building its value. Throws a JsonError for
 * text that is not JSON or not I-JSON (RFC 7493 sections 2.1 and 2.3: no duplicate names, no lone surrogates), for a
 * NUL in a string, and for more than 128 levels.
 */
export function inexactNumbers(text: string): InexactNumber[] {
  return new Check(text).run()
}

class Check {
  readonly #scanner: JsonScanner
  readonly #found: InexactNumber[] = []
  /** By depth: the current key, and its holder, which is created for the first inexact number below it. */
  readonly #keys: (string | number)[] = ['value']
  readonly #holders: (ValuePath | undefined)[] = [undefined]

  constructor(text: string) {
    this.#scanner = new JsonScanner(text)
  }

  run(): InexactNumber[] {
    this.#value(0)
    if (this.#scanner.peek() !== undefined) throw this.#scanner.unexpected()
    return this.#found
  }

  #value(depth: number): void {
    const scanner = this.#scanner
    const first = scanner.peek()
    if (first === '"') scanner.string()
    else if (first === '{') this.#object(this.#enter(depth))
    else if (first === '[') this.#array(this.#enter(depth))
    else if (first === 't') scanner.word('true')
    else if (first === 'f') scanner.word('false')
    else if (first === 'n') scanner.word('null')
    else this.#number(depth)
  }

  /** Returns the depth of the members of an object or array at a depth. */
  #enter(depth: number): number {
    if (depth === maxDepth) throw this.#scanner.error(`more than ${maxDepth} levels`)
    this.#holders[depth + 1] = undefined
    return depth + 1
  }

  #object(depth: number): void {
    const scanner = this.#scanner
    scanner.expect('{')
    if (scanner.take('}')) return
    let names: string[] | Set<string> = []
    do {
      const name = scanner.name()
      const isRepeated = Array.isArray(names) ? names.includes(name) : names.has(name)
      if (isRepeated) throw scanner.error('the same name twice in one object')
      if (!Array.isArray(names)) names.add(name)
      else if (names.push(name) > maxListed) names = new Set(names)
      scanner.expect(':')
      this.#keys[depth] = name
      this.#value(depth)
    } while (scanner.take(','))
    scanner.expect('}')
  }

  #array(depth: number): void {
    const scanner = this.#scanner
    scanner.expect('[')
    if (scanner.take(']')) return
    let index = 0
    do {
      this.#keys[depth] = index++
      this.#value(depth)
    } while (scanner.take(','))
    scanner.expect(']')
  }

  #number(depth: number): void {
    const text = this.#scanner.number()
    if (text !== undefined && mayBeInexact(text)) {
      this.#found.push({ holder: this.#holder(depth), key: this.#keys[depth] as string | number, text })
    }
  }

  #holder(depth: number): ValuePath | undefined {
    if (depth === 0) return undefined
    this.#holders[depth] ??= { holder: this.#holder(depth - 1), key: this.#keys[depth - 1] as string | number }
    return this.#holders[depth]
  }
}
