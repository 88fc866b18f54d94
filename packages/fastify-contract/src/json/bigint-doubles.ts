import { mayBeInexact } from './exact-integer.ts'
import { type JsonDocument, keepDigits } from './json-document.ts'

type Members = Record<string | number, unknown>

/**
 * Returns a document as `parseJson` would: each bigint is replaced by the nearest double, and its digits are kept for
 * `inexactNumber`. Objects and arrays without bigints are shared, not copied.
 */
export function withDoubles(value: unknown): JsonDocument {
  const document: JsonDocument = { value }
  return doubled(document, document, document) as JsonDocument
}

/**
 * Replaces the bigints in an object or array. Changes go to `copy` or, without one, to a new copy. Returns the copy, or
 * `holder` if nothing changed.
 */
function doubled(document: JsonDocument, holder: object, copy?: Members): object {
  const keys = Array.isArray(holder) ? holder.keys() : Object.keys(holder)
  for (const key of keys) {
    const value = (holder as Members)[key]
    const isBigint = typeof value === 'bigint'
    if (!isBigint && (typeof value !== 'object' || value === null)) continue
    const replacement = isBigint ? Number(value) : doubled(document, value as object)
    if (replacement === value) continue
    copy ??= (Array.isArray(holder) ? [...holder] : { ...holder }) as Members
    copy[key] = replacement
    if (!isBigint) continue
    const text = value.toString()
    if (mayBeInexact(text)) keepDigits(document, copy, key, text)
  }
  return copy ?? holder
}
