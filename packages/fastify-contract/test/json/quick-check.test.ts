import fc from 'fast-check'
import { fixedSeed } from 'fastify-contract-test-support/fixed-seed'
import t from 'tap'
import { type ExactNumber, exactInteger, type JsonDocument } from '../../src/json/json-document.ts'
import { parseJson, validateJson } from '../../src/json/parse-json.ts'

const pieces = [
  ...['{', '}', '[', ']', '"', '":', '" :', ',', ':', 'a', '"a":', '"b":1'],
  ...['1', '.', '0', '00000001', 'e5', 'E-', '-', '\u00e9', '\u4e2d', '\ud83d\ude00'],
]
const special = [
  ...['9007199254740993', '1.0000000000000000001', '12.34567890123456', '1e400', '1e23', '1e22'],
  ...['9.007199254740993e15', '900719925474099.3e1', '0.30000000000000001e1', '123456789012345e1'],
  ...['0.00001e5', '1e-400', '"9007199254740993"', '"9.007199254740993e15', '"1.0000000000000000001":'],
  ...['-1e-400', '"1e-400"', '0e-1', '"a-1e-400"', '[1e-400', ':-1e-400'],
  ...['"\\u0000"', '"\\ud800"', '\\', '\n', '\ud800'],
]

/** Texts of pieces, and JSON texts with a piece that mostly breaks them. */
const texts = fc.oneof(
  fc.array(fc.constantFrom(...pieces, ...special), { maxLength: 20 }).map((some) => some.join('')),
  fc.json({ maxDepth: 4 }).chain((text) =>
    fc.tuple(fc.nat(text.length), fc.constantFrom('', ...pieces, ...special)).map(([at, piece]) => {
      return text.slice(0, at) + piece + text.slice(at)
    }),
  ),
)

const digit = fc.constantFrom(...'0123456789')
const digits = (minLength: number, maxLength: number) =>
  fc.array(digit, { minLength, maxLength, size: 'max' }).map((some) => some.join(''))

/** Long numbers, of which many are nearly integers, such as 12.000000000000001 and 12.9999999999999999. */
const longNumbers = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits(0, 17).map((text) => text.replace(/^0+/, '') || '0'),
    fc.constantFrom('', '.', '.0', '.00', '.000', '.01', '.09', '.1', '.9', '.98', '.99', '.50', '.000000000000'),
    fc.constantFrom('', '0', '9').chain((repeated) => fc.nat(18).map((times) => repeated.repeat(times))),
    digits(0, 3),
    fc.constantFrom('', '', '', 'e1', 'E+2', 'e-3', 'e15'),
  )
  .map((parts) => parts.join(''))

const closings: Record<string, string> = { '[': ']', '{': '}' }

/** What may stand between two numbers; a string may begin with digits, too. */
const separators = [',', ' , ', ',"\u4e2d:",', ',"1234567890123456",', ',"1.0000000000000000001",', ',"10e-4",']

/** Returns what a text gives: its numbers that a double rounds, or the message of its error. */
function outcome(run: () => ExactNumber[]): string {
  try {
    // The full check also finds some exact numbers, such as 123456789012345e1.
    return String(run().filter(isInexact).sort())
  } catch (error) {
    return String(error)
  }
}

const isInexact = (text: ExactNumber) => !Number.isFinite(Number(text)) || exactInteger(text) !== BigInt(Number(text))

const numbersOf = ({ exactNumbers }: JsonDocument): ExactNumber[] =>
  [...(exactNumbers?.values() ?? [])].flatMap((members) => [...members.values()])

/** Returns whether the quick check gives what the full check finds. */
const agrees = (text: string): boolean =>
  outcome(() => validateJson(text).map((number) => number.text)) === outcome(() => numbersOf(parseJson(text)))

const runs = { ...fixedSeed, numRuns: Number(process.env.PROPERTY_RUNS ?? 5_000) }

t.test('the quick check of a text never misses what the full check finds', async (t) => {
  fc.assert(fc.property(texts, agrees), runs)
  t.pass()
})

t.test('the quick check never misses a number that a double rounds', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(longNumbers, fc.constantFrom(...separators)), { maxLength: 4 }), (list) =>
      agrees(`[${list.map((pair) => pair.join('')).join('')}0]`),
    ),
    runs,
  )
  t.pass()
})

t.test('the quick check finds an inexact number wherever one may begin', async (t) => {
  for (const begin of ['', ' ', '\n', '[', '[0,', '[0, ', '{"a":', '{"a": '])
    for (const number of ['9007199254740993', '-9007199254740993', '1e-400', '-1e-400', '1.0000000000000000001'])
      t.same(numbersOf(parseJson(begin + number + (closings[begin.trimStart().charAt(0)] ?? ''))), [number], begin)
})

t.test('a text gives the value that JSON.parse gives', async (t) => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom(undefined, 1), (text, indent) => {
      const indented = JSON.stringify(JSON.parse(text), null, indent)
      // The texts of fast-check may have NUL and lone surrogates.
      const expected = outcome(() => validateJson(indented) && [JSON.stringify(JSON.parse(indented))])
      return outcome(() => [JSON.stringify(parseJson(indented).value)]) === expected
    }),
    runs,
  )
  t.pass()
})
