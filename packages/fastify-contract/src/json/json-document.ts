import { integerOf, isRoundedInteger } from './decimal.ts'

/** A parsed JSON document. Its root is the member `value`, so that the root has a holder and a key like any value. */
export type JsonDocument = {
  value: unknown
  /** The length of its text in characters; 0 without a text. */
  length: number
  /** The exact value of each number whose double may differ from it, by its object or array, then by its key. */
  exactNumbers?: Map<object, Map<string | number, ExactNumber>>
}

/** An exact number: its JSON text, or its value if it is an integer. */
export type ExactNumber = string | bigint

/** Returns the exact value of a number whose double may differ from it; undefined for any other number. */
export const exactNumberOf = (
  { exactNumbers }: JsonDocument,
  holder: object,
  key: string | number,
): ExactNumber | undefined => exactNumbers?.get(holder)?.get(key)

/** Sets the exact value of a number, which `exactNumberOf` returns. */
export function setExactNumber(document: JsonDocument, holder: object, key: string | number, exact: ExactNumber): void {
  document.exactNumbers ??= new Map()
  const members = document.exactNumbers.get(holder)
  if (members === undefined) document.exactNumbers.set(holder, new Map([[key, exact]]))
  else members.set(key, exact)
}

/** Returns what describes a member of a value; undefined for a member to leave out, with all that is in it. */
export type MemberContext<Context> = (context: Context, holder: object, key: string) => Context | undefined

/**
 * Returns the JSON pointer to a number of a document that is an integer and was rounded; undefined if there is none.
 * An integer that became a bigint is exact. Numbers of a reply were never texts, so they are not looked at.
 *
 * @param context What describes the document; `below` leaves out the members that do not count.
 */
export function roundedInteger<Context>(
  document: JsonDocument,
  context: Context,
  below: MemberContext<Context>,
): string | undefined {
  const rounded = new Map<object, Set<string>>()
  for (const [holder, members] of document.exactNumbers ?? []) {
    for (const [key, exact] of members) {
      const isRounded =
        typeof (holder as Holder)[key] === 'number' && typeof exact === 'string' && isRoundedInteger(exact)
      if (isRounded) rounded.set(holder, (rounded.get(holder) ?? new Set()).add(String(key)))
    }
  }
  if (rounded.size === 0) return undefined
  /** Returns the pointer to the first rounded member in a value. A holder that was deleted is in none. */
  const find = (
    holder: object,
    names: string[],
    describes: MemberContext<Context>,
    held: Context,
  ): string | undefined => {
    for (const name of names) {
      const inner = describes(held, holder, name)
      if (inner === undefined) continue
      if (rounded.get(holder)?.has(name)) return `/${escapeKey(name)}`
      const value = (holder as Holder)[name]
      if (typeof value !== 'object' || value === null) continue
      const pointer = find(value, Object.keys(value), below, inner)
      if (pointer !== undefined) return `/${escapeKey(name)}${pointer}`
    }
    return undefined
  }
  return find(document, ['value'], (whole) => whole, context)?.slice('/value'.length)
}

/** Escapes a key for a JSON pointer (RFC 6901 section 3). */
export const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

/**
 * Copies the exact numbers of a document when a part of it moves to another one. `root` is the document itself, or an
 * object with one member; its member moves to `key` of `holder`.
 */
export function copyExactNumbers(
  from: JsonDocument,
  root: object,
  to: { document: JsonDocument; holder: object; key: string | number },
): void {
  for (const [holder, members] of from.exactNumbers ?? []) {
    for (const [key, exact] of members) {
      if (holder === root) setExactNumber(to.document, to.holder, to.key, exact)
      else setExactNumber(to.document, holder, key, exact)
    }
  }
}

/**
 * Returns a document as `parseJson` would: each bigint is replaced by the nearest double, and is an exact number of the
 * document if it is beyond the safe integers. Objects of a class are replaced by their own members: compiled schemas do
 * not tell inherited ones apart. Other objects and arrays without bigints are shared, not copied.
 */
export function withDoubles(value: unknown): JsonDocument {
  const document: JsonDocument = { value, length: 0 }
  document.value = toDoubles(document, value)
  keepBigint(document, document, 'value', value)
  return document
}

function toDoubles(document: JsonDocument, value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? listToDoubles(document, value) : objectToDoubles(document, value as Holder)
}

function listToDoubles(document: JsonDocument, list: unknown[]): unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const item = list[index]
    const replacement = toDoubles(document, item)
    if (replacement === item) continue
    copy ??= [...list]
    copy[index] = replacement
    keepBigint(document, copy, index, item)
  }
  return copy ?? list
}

function objectToDoubles(document: JsonDocument, object: Holder): Holder {
  let copy = Object.getPrototypeOf(object) === Object.prototype ? undefined : { ...object }
  // Object.keys would spend most of the time on its array. This loop also visits inherited names.
  for (const name in object) {
    const member = object[name]
    const replacement = toDoubles(document, member)
    if (replacement === member || !Object.hasOwn(object, name)) continue
    copy ??= { ...object }
    copy[name] = replacement
    keepBigint(document, copy, name, member)
  }
  return copy ?? object
}

function keepBigint(document: JsonDocument, holder: object, key: string | number, value: unknown): void {
  if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value))) setExactNumber(document, holder, key, value)
}

type Holder = Record<string | number, unknown>

/** The ids of objects and arrays, by identity and by canonical key. Equal values have the same id. */
type Ids = { byValue: Map<object, number>; byKey: Map<string, number> }

const idsOf = new WeakMap<JsonDocument, Ids>()

/**
 * Returns the indexes of the first item of a list that equals an earlier one, and of that earlier one; undefined if all
 * items differ. Items are equal by JSON Schema's rules: the order of members does not matter, and 1 equals 1.0. An
 * integer of at most 20 digits is compared exactly, any other number as a double.
 *
 * It uses hash consing: canonical keys contain the ids of objects and arrays, not their texts, so all lists of one
 * document take linear time.
 */
export function duplicateItems(document: JsonDocument, items: unknown[]): [earlier: number, later: number] | undefined {
  const ids = idsOf.get(document) ?? { byValue: new Map(), byKey: new Map() }
  idsOf.set(document, ids)
  const seen = new Map<string, number>()
  for (const index of items.keys()) {
    const canonical = canonicalKey(document, items as unknown as Holder, index, ids)
    const earlier = seen.get(canonical)
    if (earlier !== undefined) return [earlier, index]
    seen.set(canonical, index)
  }
  return undefined
}

/** Returns a text that only equal values share. */
function canonicalKey(document: JsonDocument, holder: Holder, key: string | number, ids: Ids): string {
  const value = holder[key]
  if (typeof value === 'object' && value !== null) return `#${idOf(document, value, ids)}`
  if (typeof value !== 'number') return JSON.stringify(value)
  return String(exactValueOf(document, holder, key, value))
}

function idOf(document: JsonDocument, value: object, ids: Ids): number {
  const { byValue, byKey } = ids
  const known = byValue.get(value)
  if (known !== undefined) return known
  const member = (key: string | number) => canonicalKey(document, value as Holder, key, ids)
  const canonical = Array.isArray(value)
    ? `[${Array.from(value.keys(), member)}]`
    : `{${Object.keys(value)
        // A response is written without its undefined members.
        .filter((key) => (value as Holder)[key] !== undefined)
        .sort()
        .map((key) => `${JSON.stringify(key)}:${member(key)}`)}}`
  const id = byKey.get(canonical) ?? byKey.size
  byKey.set(canonical, id)
  byValue.set(value, id)
  return id
}

/** Returns the value of an exact number if it is an integer; see `integerOf`. */
export const exactInteger = (exact: ExactNumber): bigint | undefined =>
  typeof exact === 'bigint' ? exact : integerOf(exact)

/** Returns the exact value of a number, as a bigint, if it is an integer that its double may not hold; otherwise the double. */
export function exactValueOf(
  document: JsonDocument,
  holder: object,
  key: string | number,
  double: number,
): bigint | number {
  const exact = exactNumberOf(document, holder, key)
  return (exact === undefined ? undefined : exactInteger(exact)) ?? double
}

/**
 * Returns whether the value of a JSON number may differ from its double. Returns false if the double is not an integer:
 * the number is then no integer either, and only integers must be exact. Different numbers of at most 15 digits have
 * different doubles (IEEE 754 binary64), except those so small that their double is 0, or so large that it is infinite.
 */
export function mayBeInexact(text: string): boolean {
  const double = Number(text)
  if (double === 0) return /^[-0.]*[1-9]/.test(text)
  if (!Number.isFinite(double)) return true
  return Number.isInteger(double) && (text.length > 15 || Math.abs(double) > Number.MAX_SAFE_INTEGER)
}
