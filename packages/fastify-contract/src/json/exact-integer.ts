const decimal = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/**
 * Returns the exact value of a JSON number (RFC 8259 section 6) if it is an integer of at most 19 digits, else
 * undefined. A large exponent is never expanded.
 */
export function exactInteger(text: string): bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = decimal.exec(text) ?? []
  if (sign === undefined) return undefined
  const digits = whole + fraction
  let [start, end] = [0, digits.length]
  while (start < end && digits[start] === '0') start++
  while (end > start && digits[end - 1] === '0') end--
  if (start === end) return 0n
  const zeros = Number(exponent) - fraction.length + (digits.length - end)
  if (zeros < 0 || end - start + zeros > 19) return undefined
  return BigInt(sign + digits.slice(start, end) + '0'.repeat(zeros))
}

/**
 * Returns whether the value of a JSON number may differ from its double. Returns false if the double is not an integer:
 * the number is then no integer either, and only integers must be exact. Different numbers of at most 15 digits have
 * different doubles (IEEE 754 binary64), except those so small that their double is 0.
 */
export function mayBeInexact(text: string): boolean {
  const double = Number(text)
  if (double === 0) return /^[-0.]*[1-9]/.test(text)
  return Number.isInteger(double) && (text.length > 15 || Math.abs(double) > Number.MAX_SAFE_INTEGER)
}
