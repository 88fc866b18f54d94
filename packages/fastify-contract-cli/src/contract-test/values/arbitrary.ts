import * as fc from 'fast-check'
import type { Json, JsonType, Members } from './json-notations.ts'

/** Any code point except NUL, which the contract forbids in a string, and surrogates, which I-JSON forbids. */
const codePoint = fc
  .integer({ min: 1, max: 0x10_ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800))

const ascii = fc.integer({ min: 0x20, max: 0x7e }).map((number) => String.fromCodePoint(number))

/** Any character of a text that a JSON body may hold. */
export const anyCharacter: fc.Arbitrary<string> = fc.oneof(ascii, ascii, codePoint)

/** Returns any text of some characters. Its length counts code points (JSON Schema Validation section 6.3.1). */
export const text = (
  length: { minLength?: number; maxLength?: number } = {},
  unit: fc.Arbitrary<string> = anyCharacter,
): fc.Arbitrary<string> => fc.string({ unit, ...length })

/** The length from which a text repeats a shorter one: to draw each character would take most of the time of a test. */
const longFrom = 100

/** Returns texts of at least `minLength` characters, of which those of a long text recur. */
export function longText(minLength: number, more: number, unit: fc.Arbitrary<string>): fc.Arbitrary<string> {
  if (minLength < longFrom) return text({ minLength, maxLength: minLength + more }, unit)
  const part = text({ minLength: 1, maxLength: longFrom }, unit)
  return fc
    .tuple(part, fc.nat({ max: more }))
    .map(([once, extra]) => repeated(Array.from(once), minLength + extra).join(''))
}

const repeated = (characters: string[], length: number): string[] =>
  Array.from({ length }, (_, index) => characters[index % characters.length] as string)

/** Any member names, some of which have a meaning in JavaScript. */
export const memberName: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: text({ maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', 'length', '') },
)

/** The service refuses an integer whose double is written with other digits, unless it has the format int64. */
const number: fc.Arbitrary<Json> = fc.oneof(
  fc.bigInt({ min: -(2n ** 69n), max: 2n ** 69n }).map((integer) => BigInt(String(Number(integer)))),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

/** Any values of each type. Arrays and objects contain values of every type, a few levels deep. */
export const ofType: Record<JsonType, fc.Arbitrary<Json>> = fc.letrec<Record<JsonType, Json>>((tie) => {
  const inside = fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    ...(['null', 'boolean', 'number', 'string', 'array', 'object'] as const).map((type) => tie(type)),
  )
  return {
    null: fc.constant(null),
    boolean: fc.boolean(),
    number,
    string: text({ maxLength: 20 }),
    array: fc.array(inside, { maxLength: 3 }),
    object: fc.array(fc.tuple(memberName, inside), { maxLength: 3 }).map(membersOf),
  }
})

/** Any JSON value. */
export const anyJson: fc.Arbitrary<Json> = fc.oneof(...Object.values(ofType))

/** Returns an object of names and values, also when a name is __proto__. */
export function membersOf(entries: [string, Json][]): Members {
  return Object.fromEntries(entries)
}

/** The default number of tries. */
const patience = 2_000

/**
 * Returns the values for which `isWanted` holds. To make one throws an error that names `place` when they are too rare to
 * find.
 *
 * @param tries The number of unwanted values in a row after which the search fails.
 */
export const filterOrThrow = <T>(
  values: fc.Arbitrary<T>,
  isWanted: (value: T) => boolean,
  place: string,
  tries = patience,
): fc.Arbitrary<T> => new Filtered(values, isWanted, place, tries)

/** Unlike `filter`, it ends, and it counts no values that are only tried to make a found one smaller. */
class Filtered<T> extends fc.Arbitrary<T> {
  readonly #values: fc.Arbitrary<T>
  readonly #isWanted: (value: T) => boolean
  readonly #place: string
  readonly #tries: number

  constructor(values: fc.Arbitrary<T>, isWanted: (value: T) => boolean, place: string, tries: number) {
    super()
    this.#values = values
    this.#isWanted = isWanted
    this.#place = place
    this.#tries = tries
  }

  override generate(random: fc.Random, bias: number | undefined): fc.Value<T> {
    for (let tries = 0; tries < this.#tries; tries++) {
      const made = this.#made(random, bias)
      // A search below that fails has taken long.
      if (made === undefined) tries += this.#tries / 4
      else if (this.#isWanted(made.value)) return made
    }
    throw new Error(`${this.#place}: no value found in ${this.#tries} tries`)
  }

  #made(random: fc.Random, bias: number | undefined): fc.Value<T> | undefined {
    try {
      return this.#values.generate(random, bias)
    } catch {
      return undefined
    }
  }

  override canShrinkWithoutContext(value: unknown): value is T {
    return this.#values.canShrinkWithoutContext(value) && this.#isWanted(value)
  }

  override shrink(value: T, context: unknown): fc.Stream<fc.Value<T>> {
    return this.#values.shrink(value, context).filter((smaller) => this.#isWanted(smaller.value))
  }
}

/** Returns values that `filterOrThrow` finds; undefined if they are too rare. */
export function findableOf<T>(
  values: fc.Arbitrary<T>,
  isWanted: (value: T) => boolean,
  place: string,
): fc.Arbitrary<T> | undefined {
  const wanted = filterOrThrow(values, isWanted, place)
  try {
    fc.sample(wanted, { numRuns: 3, seed: 1 })
    return wanted
  } catch {
    return undefined
  }
}

/** The numbers of values that are sampled one after the other: mostly the first value is a wanted one. */
const samples = [1, 9, 50]

/** Returns whether `isWanted` holds for at least one of some sampled values; false if values of them cannot be made. */
export const isFoundInSample = <T>(
  values: fc.Arbitrary<T>,
  isWanted: (value: T) => boolean,
  counts: number[] = samples,
): boolean => counts.some((numRuns) => sampleOf(values, numRuns).some(isWanted))

function sampleOf<T>(values: fc.Arbitrary<T>, numRuns: number): T[] {
  try {
    return fc.sample(values, { numRuns, seed: numRuns })
  } catch {
    return []
  }
}
