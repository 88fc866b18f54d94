/**
 * Returns whether a schema of these types allows a value of an event that is not a string. No types stand for all of
 * them.
 */
export function allowsOther(types: readonly string[], value: unknown): boolean {
  if (typeof value === 'string') return false
  if (types.length === 0) return true
  if (typeof value === 'number' || typeof value === 'bigint')
    return types.includes('number') || types.includes('integer')
  return types.includes(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
}
