import { exactInteger } from './exact-integer.ts'
import { inexactNumber, type JsonDocument } from './json-document.ts'

type Holder = Record<string | number, unknown>

/** The number of each known object and array, by identity, and by its text: equal values have one number. */
type Known = { values: Map<object, number>; texts: Map<string, number> }

const knownOf = new WeakMap<JsonDocument, Known>()

/**
 * Returns the indexes of the first item of a list that equals an earlier one, and of that earlier one; undefined if all
 * items differ. Items are equal by JSON Schema's rules: the order of members does not matter, and 1 equals 1.0. An
 * integer of at most 19 digits is compared exactly, any other number as a double. The text of a value has the numbers
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
