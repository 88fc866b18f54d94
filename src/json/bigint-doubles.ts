import { mayBeInexact } from './exact-integer.ts'
import { type JsonDocument, keepDigits } from './json-document.ts'

type Holder = Record<string | number, unknown>

/**
 * Returns a document as `parseJson` would: each bigint is replaced by the nearest double, and its digits are kept for
 * `inexactNumber`. Objects and arrays without bigints are shared, not copied.
 */
export function withDoubles(value: unknown): JsonDocument {
  const document: JsonDocument = { value }
  return doubled(document, document, document) as JsonDocument
}

/** Replaces the bigints in an object or array. Changes go to `copy`, or to a new copy if there are any. */
function doubled(document: JsonDocument, holder: object, copy?: Holder): object {
  const keys = Array.isArray(holder) ? holder.keys() : Object.keys(holder)
  for (const key of keys) {
    const value = (holder as Holder)[key]
    const isBigint = typeof value === 'bigint'
    if (!isBigint && (typeof value !== 'object' || value === null)) continue
    const made = isBigint ? Number(value) : doubled(document, value as object)
    if (made === value) continue
    copy ??= (Array.isArray(holder) ? [...holder] : { ...holder }) as Holder
    copy[key] = made
    if (!isBigint) continue
    const text = value.toString()
    if (mayBeInexact(text)) keepDigits(document, copy, key, text)
  }
  return copy ?? holder
}
