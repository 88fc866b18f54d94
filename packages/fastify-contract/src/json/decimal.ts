/** A decimal number without its sign: `digits`, without zeros at either end, times ten to the power of `exponent`. */
type Decimal = { sign: string; digits: string; exponent: number }

/** The grammar of a JSON number (RFC 8259 section 6), also as JavaScript writes one. */
const grammar = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Returns the parts of a decimal number; undefined for any other text. Zero has no digits and no sign. */
function decimalOf(text: string): Decimal | undefined {
  const [, sign, whole = '', fraction = '', power = '0'] = grammar.exec(text) ?? []
  if (sign === undefined) return undefined
  const all = whole + fraction
  let [start, end] = [0, all.length]
  while (start < end && all[start] === '0') start++
  while (end > start && all[end - 1] === '0') end--
  if (start === end) return { sign: '', digits: '', exponent: 0 }
  return { sign, digits: all.slice(start, end), exponent: Number(power) - fraction.length + (all.length - end) }
}

/** The most digits of an integer that is kept exactly: a uint64 has as many. */
const maxDigits = 20

/**
 * Returns the value of a JSON number if it is an integer of at most 20 digits, as many as a uint64 has, else undefined.
 * A large exponent is never expanded.
 */
export function integerOf(text: string): bigint | undefined {
  const decimal = decimalOf(text)
  if (decimal === undefined) return undefined
  const { sign, digits, exponent } = decimal
  if (exponent < 0 || digits.length + exponent > maxDigits) return undefined
  return BigInt(sign + digits + '0'.repeat(exponent))
}

/**
 * Returns whether a JSON number is an integer whose double is another number: JSON would write the double with other
 * digits, or cannot write it. A fraction is never one: its value is the nearest double.
 */
export function isRoundedInteger(text: string): boolean {
  const [exact, double] = [decimalOf(text), decimalOf(String(Number(text)))]
  if (exact === undefined || exact.exponent < 0) return false
  return exact.sign !== double?.sign || exact.digits !== double.digits || exact.exponent !== double.exponent
}

/** The powers of ten that a double holds exactly. */
const maxExactPower = 22
/** Doubles that have the same digits as decimal numbers have at least this many, whatever their exponent (IEEE 754). */
const maxDecimal = 1e15

/**
 * Returns a function that tells whether a number is a multiple of a divisor. Both are decimal, as JSON's numbers are: a
 * double stands for the shortest text that has its value, so 19.99 is a multiple of 0.01. No power of ten above 10^660
 * is expanded.
 */
export function multipleTest(divisor: number): (value: number | bigint) => boolean {
  const { digits, exponent } = decimalOf(String(divisor)) as Decimal
  const isInteger = Number.isSafeInteger(divisor)
  const scale = isInteger ? 1 : 10 ** -exponent
  const step = isInteger ? divisor : Number(digits)
  const isScalable = isInteger || (exponent < 0 && exponent >= -maxExactPower && step < maxDecimal)

  function isDecimalMultiple(value: number | bigint): boolean {
    const decimal = decimalOf(String(value))
    if (decimal?.digits === '') return true
    if (decimal === undefined || decimal.exponent < exponent) return false
    return (BigInt(decimal.digits) * 10n ** BigInt(decimal.exponent - exponent)) % BigInt(digits) === 0n
  }

  return function isMultiple(value) {
    if (typeof value === 'number' && isScalable) {
      const scaled = Math.round(value * scale)
      // Two integers and one exact power of ten: the quotient is the nearest double to the decimal number.
      if (Math.abs(scaled) < maxDecimal) return scaled / scale === value && scaled % step === 0
    }
    return isDecimalMultiple(value)
  }
}
