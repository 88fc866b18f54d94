import { mayBeInexact } from './exact-integer.ts'
import { JsonScanner } from './json-scanner.ts'

/** The path to an object or array: its key and the path of its holder; undefined stands for the document. */
export type Holder = { holder: Holder | undefined; key: string | number; value?: object }

/** A number whose double may have another value, its holder and its key there. */
export type InexactNumber = { holder: Holder | undefined; key: string | number; text: string }

/** Deeper nesting is refused (RFC 8259 section 9 lets a parser set a limit). */
const maxDepth = 128

/** Up to so many names of an object are compared one by one: for a few, a set costs more. */
const few = 8

/**
 * Returns the inexact numbers of a JSON text (RFC 8259), and builds nothing else of it. Throws a JsonError for what is
 * not JSON or not I-JSON (RFC 7493 sections 2.1 and 2.3): a name twice in one object, a lone surrogate; also for a NUL
 * in a string and for more than 128 levels.
 */
export function inexactNumbers(text: string): InexactNumber[] {
  return new Check(text).run()
}

class Check {
  readonly #scanner: JsonScanner
  readonly #found: InexactNumber[] = []
  /** By depth: the key that is being read, and its holder once a number below needs it. */
  readonly #keys: (string | number)[] = ['value']
  readonly #holders: (Holder | undefined)[] = [undefined]

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
    else if (first === '{') this.#object(this.#below(depth))
    else if (first === '[') this.#array(this.#below(depth))
    else if (first === 't') scanner.word('true')
    else if (first === 'f') scanner.word('false')
    else if (first === 'n') scanner.word('null')
    else this.#number(depth)
  }

  #below(depth: number): number {
    if (depth === maxDepth) throw this.#scanner.refused(`more than ${maxDepth} levels`)
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
      if (isRepeated) throw scanner.refused('the same name twice in one object')
      if (!Array.isArray(names)) names.add(name)
      else if (names.push(name) > few) names = new Set(names)
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

  #holder(depth: number): Holder | undefined {
    if (depth === 0) return undefined
    this.#holders[depth] ??= { holder: this.#holder(depth - 1), key: this.#keys[depth - 1] as string | number }
    return this.#holders[depth]
  }
}
