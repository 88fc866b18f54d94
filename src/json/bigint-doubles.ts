import { mayBeInexact } from './exact-integer.ts'
import { type JsonDocument, keepDigits } from './json-document.ts'

type Holder = Record<string | number, unknown>

/**
 * Returns a document of a value with each bigint as the double nearest to it, whose digits `inexactNumber` knows, as if
 * the value had been parsed from JSON. What holds no bigint is shared, not copied.
 */
export function withDoubles(value: unknown): JsonDocument {
  const document: JsonDocument = { value }
  return doubled(document, document, document) as JsonDocument
}

/** Returns an object or array with doubles, copied when it needs any and no copy is given. */
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
