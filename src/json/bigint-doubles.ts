import { type JsonDocument, keepDigits } from './parse-json.ts'

type Holder = Record<string | number, unknown>

/**
 * Returns a document of a value with each bigint as the double nearest to it, whose digits `inexactNumber` knows, as if
 * the value had been parsed from JSON. What holds no bigint is shared, not copied.
 */
export function withDoubles(value: unknown): JsonDocument {
  return doubled({ value }) as JsonDocument
}

function doubled(holder: object): object {
  let copy: Holder | undefined
  const keys = Array.isArray(holder) ? holder.keys() : Object.keys(holder)
  for (const key of keys) {
    const value = (holder as Holder)[key]
    const isBigint = typeof value === 'bigint'
    if (!isBigint && (typeof value !== 'object' || value === null)) continue
    const made = isBigint ? Number(value) : doubled(value as object)
    if (made === value) continue
    copy ??= (Array.isArray(holder) ? [...holder] : { ...holder }) as Holder
    copy[key] = made
    if (isBigint) keepDigits(copy, key, made as number, value.toString())
  }
  return copy ?? holder
}
