/** A parsed JSON document. Its root is the member `value`, so that the root has a holder and a key like any value. */
export type JsonDocument = {
  value: unknown
  /** The length of its text in characters; 0 without a text. */
  length: number
  /** The exact value of each number whose double may differ from it, by its object or array, then by its key. */
  digits?: Map<object, Map<string | number, Digits>>
}

/** An exact number: its JSON text, or its value if it is an integer. */
export type Digits = string | bigint

/** Returns the exact value of a number whose double may differ from it; undefined for any other number. */
export const inexactNumber = ({ digits }: JsonDocument, holder: object, key: string | number): Digits | undefined =>
  digits?.get(holder)?.get(key)

/** Keeps the exact value of a number for `inexactNumber`. */
export function keepDigits(document: JsonDocument, holder: object, key: string | number, exact: Digits): void {
  document.digits ??= new Map()
  const kept = document.digits.get(holder)
  if (kept === undefined) document.digits.set(holder, new Map([[key, exact]]))
  else kept.set(key, exact)
}

/**
 * Copies the digits of one document to another. The only member of `root` becomes the member `key` of `holder` in the
 * new document.
 */
export function copyDigits(
  from: JsonDocument,
  root: object,
  document: JsonDocument,
  holder: object,
  key: string | number,
): void {
  for (const [source, digits] of from.digits ?? []) {
    for (const [member, exact] of digits) {
      if (source === root) keepDigits(document, holder, key, exact)
      else keepDigits(document, source, member, exact)
    }
  }
}

/**
 * Returns a document as `parseJson` would: each bigint is replaced by the nearest double, and kept for `inexactNumber` if
 * they differ. Objects of a class are replaced by their own members: compiled schemas do not tell inherited ones apart.
 * Other objects and arrays without bigints are shared, not copied.
 */
export function withDoubles(value: unknown): JsonDocument {
  const document: JsonDocument = { value, length: 0 }
  document.value = doubled(document, value)
  keepBigint(document, document, 'value', value)
  return document
}

function doubled(document: JsonDocument, value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? doubledList(document, value) : doubledObject(document, value as Holder)
}

function doubledList(document: JsonDocument, list: unknown[]): unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const item = list[index]
    const replacement = doubled(document, item)
    if (replacement === item) continue
    copy ??= [...list]
    copy[index] = replacement
    keepBigint(document, copy, index, item)
  }
  return copy ?? list
}

function doubledObject(document: JsonDocument, object: Holder): Holder {
  let copy = Object.getPrototypeOf(object) === Object.prototype ? undefined : { ...object }
  // Unlike Object.keys, this loop creates no array of names, which takes most of the time. It includes inherited names.
  for (const name in object) {
    const member = object[name]
    const replacement = doubled(document, member)
    if (replacement === member || !Object.hasOwn(object, name)) continue
    copy ??= { ...object }
    copy[name] = replacement
    keepBigint(document, copy, name, member)
  }
  return copy ?? object
}

function keepBigint(document: JsonDocument, holder: object, key: string | number, value: unknown): void {
  if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value))) keepDigits(document, holder, key, value)
}

type Holder = Record<string | number, unknown>

/** The number of each known object and array, by identity, and by its text: equal values have one number. */
type Known = { values: Map<object, number>; texts: Map<string, number> }

const knownOf = new WeakMap<JsonDocument, Known>()

/**
 * Returns the indexes of the first item of a list that equals an earlier one, and of that earlier one; undefined if all
 * items differ. Items are equal by JSON Schema's rules: the order of members does not matter, and 1 equals 1.0. An
 * integer of at most 20 digits is compared exactly, any other number as a double. The text of a value has the numbers
 * of its objects and arrays instead of their texts, so all lists of one document take linear time.
 */
export function duplicateItems(document: JsonDocument, items: unknown[]): [earlier: number, later: number] | undefined {
  const known = knownOf.get(document) ?? { values: new Map(), texts: new Map() }
  knownOf.set(document, known)
  const seen = new Map<string, number>()
  for (const index of items.keys()) {
    const text = textOf(document, items as unknown as Holder, index, known)
    const earlier = seen.get(text)
    if (earlier !== undefined) return [earlier, index]
    seen.set(text, index)
  }
  return undefined
}

/** Returns the text of a value, which only equal values share. */
function textOf(document: JsonDocument, holder: Holder, key: string | number, known: Known): string {
  const value = holder[key]
  if (typeof value === 'object' && value !== null) return `#${numberOf(document, value, known)}`
  if (typeof value !== 'number') return JSON.stringify(value)
  const digits = inexactNumber(document, holder, key)
  return String((digits !== undefined && exactInteger(digits)) || value)
}

function numberOf(document: JsonDocument, value: object, known: Known): number {
  const { values, texts } = known
  const numbered = values.get(value)
  if (numbered !== undefined) return numbered
  const member = (key: string | number) => textOf(document, value as Holder, key, known)
  const text = Array.isArray(value)
    ? `[${Array.from(value.keys(), member)}]`
    : `{${Object.keys(value)
        // A response is written without its undefined members.
        .filter((key) => (value as Holder)[key] !== undefined)
        .sort()
        .map((key) => `${JSON.stringify(key)}:${member(key)}`)}}`
  const number = texts.get(text) ?? texts.size
  texts.set(text, number)
  values.set(value, number)
  return number
}

const decimal = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/**
 * Returns the exact value of a JSON number (RFC 8259 section 6) if it is an integer of at most 20 digits, as many
 * as a uint64 has, else undefined. A large exponent is never expanded.
 */
export function exactInteger(text: Digits): bigint | undefined {
  if (typeof text === 'bigint') return text
  const [, sign, whole = '', fraction = '', exponent = '0'] = decimal.exec(text) ?? []
  if (sign === undefined) return undefined
  const digits = whole + fraction
  let [start, end] = [0, digits.length]
  while (start < end && digits[start] === '0') start++
  while (end > start && digits[end - 1] === '0') end--
  if (start === end) return 0n
  const zeros = Number(exponent) - fraction.length + (digits.length - end)
  if (zeros < 0 || end - start + zeros > 20) return undefined
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

/**
 * Serializes a value like JSON.stringify, with each bigint as an integer; RFC 8259 section 6 sets no limit on digits.
 * Returns undefined for a value that JSON cannot represent.
 */
export function stringifyJson(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => stringifyJson(item) ?? 'null').join()}]`
  const members = Object.entries(value).flatMap(([name, member]) => {
    const text = stringifyJson(member)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${members.join()}}`
}
