/** The values of a text by their indexes, in the order of the text. The key of a member is a value, too. */
export type TextValues = {
  /** For each value, the index of the next value that it does not hold. */
  next: ArrayLike<number>
  /** Returns what a value holds; undefined for a scalar. */
  holds(index: number): 'items' | 'members' | undefined
  /** Returns the index of the value that an alias stands for; the given index for any other value. */
  targetOf(index: number): number
  /** Returns whether the value of a member is merged into the object. */
  isMerge(key: number): boolean
  /** Returns the name of the member with this key. */
  nameOf(key: number): string
  /** Returns the text of a scalar without quotes. `key` is the key of its member. */
  textOf(index: number, key?: number): string | undefined
  /** Returns the offset of a value; undefined for one that the text leaves out at an unknown offset. */
  beginOf(index: number, key?: number): number | undefined
}

/** A text that was read. */
export type ReadText = { value: unknown; values: TextValues }

/** A member or an item of a value; an item has no key. */
type Found = { key?: number; value: number }

/** Returns the value at some keys of a text, or the closest value above it; `isWhole` tells which of both. */
function found(values: TextValues, keys: string[]): Found & { isWhole: boolean } {
  let last: Found = { value: 0 }
  for (const key of keys) {
    const member = memberOf(values, last.value, key)
    if (member === undefined) return { ...last, isWhole: false }
    last = member
  }
  return { ...last, isWhole: true }
}

function memberOf(values: TextValues, given: number, name: string): Found | undefined {
  const { next } = values
  const holder = values.targetOf(given)
  const end = next[holder] as number
  const held = values.holds(holder)
  if (held === 'items') {
    let count = 0
    for (let at = holder + 1; at < end; at = next[at] as number) if (String(count++) === name) return { value: at }
  }
  if (held !== 'members') return undefined
  const merged: number[] = []
  for (let key = holder + 1; key < end; ) {
    const value = next[key] as number
    if (values.isMerge(key)) merged.push(value)
    else if (values.nameOf(key) === name) return { key, value }
    key = next[value] as number
  }
  for (const source of merged.flatMap((value) => sourcesOf(values, value))) {
    const member = memberOf(values, source, name)
    if (member !== undefined) return member
  }
  return undefined
}

/** Returns the values that a merge key merges: those of a list, or the one value. */
export function sourcesOf({ next, holds, targetOf }: TextValues, given: number): number[] {
  const value = targetOf(given)
  if (holds(value) !== 'items') return [value]
  const sources: number[] = []
  for (let at = value + 1; at < (next[value] as number); at = next[at] as number) sources.push(at)
  return sources
}

/** Returns the offset of the value at some keys, or of its key; of the closest value above it that has an offset. */
export function offsetOf(values: TextValues, keys: string[], onKey: boolean): number {
  const { key, value } = found(values, keys)
  const offset = onKey && key !== undefined ? values.beginOf(key) : values.beginOf(value, key)
  const isRoot = value === 0 || keys.length === 0
  return isRoot ? (onKey ? 0 : (offset ?? 0)) : (offset ?? offsetOf(values, keys.slice(0, -1), onKey))
}

/** Returns the text of the scalar at some keys without quotes; undefined if there is none. */
export function scalarAt(values: TextValues, keys: string[]): string | undefined {
  const { key, value, isWhole } = found(values, keys)
  return isWhole ? values.textOf(value, key) : undefined
}
