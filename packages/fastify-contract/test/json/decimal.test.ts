import * as fc from 'fast-check'
import t from 'tap'
import { isRoundedInteger, multipleTest } from '../../src/json/decimal.ts'

/** A number as a fraction of integers, from its shortest decimal text. */
function fraction(value: number): [bigint, bigint] {
  const [mantissa = '', power = '0'] = String(value).split('e')
  const [whole = '', decimals = ''] = mantissa.split('.')
  const exponent = Number(power) - decimals.length
  const digits = BigInt(whole + decimals)
  return exponent < 0 ? [digits, 10n ** BigInt(-exponent)] : [digits * 10n ** BigInt(exponent), 1n]
}

function isMultiple(value: number, step: number): boolean {
  const [[top, bottom], [over, under]] = [fraction(value), fraction(step)]
  return (top * under) % (bottom * over) === 0n
}

const scaled = fc.tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.integer({ min: -30, max: 12 }))
const decimal = scaled.map(([digits, exponent]) => Number(`${digits}e${exponent}`))
const number = fc.oneof(decimal, fc.double({ noNaN: true, noDefaultInfinity: true }))
const step = number.map(Math.abs).filter((value) => value > 0)

t.test('a number is a multiple if and only if its fraction is', async (t) => {
  const judge = (value: number, by: number) => multipleTest(by)(value) === isMultiple(value, by)
  fc.assert(fc.property(number, step, judge), { numRuns: 3000 })
  const product = fc.tuple(fc.integer(), fc.constantFrom(0.01, 0.1, 0.05, 0.25, 1.01, 1e-6, 3, 1e-23, 2.5e10))
  const parts = product.map(([times, by]) => [Number((times * by).toPrecision(15)), by] as const)
  fc.assert(
    fc.property(parts, ([value, by]) => judge(value, by)),
    { numRuns: 3000 },
  )
  t.pass('all agree')
})

t.test('numbers of any size have a bounded cost', async (t) => {
  const sizes = [5e-324, 1e-23, 0.1, 1, 3, 1e308, Number.MAX_VALUE]
  for (const value of sizes) for (const by of sizes) t.equal(multipleTest(by)(value), isMultiple(value, by))
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) t.notOk(multipleTest(0.01)(value))
  t.ok(multipleTest(0.5)(-0))
})

t.test('an integer is rounded if its double has other digits', async (t) => {
  for (const text of ['12345678901234567890', '9007199254740993', '-9007199254740993', '18446744073709551616', '1e400'])
    t.ok(isRoundedInteger(text), text)
  for (const text of ['1', '1e300', '9007199254740992', '0', '-0.0', '1.5', '1e-400', 'x'])
    t.notOk(isRoundedInteger(text), text)
})
