/** Returns a pointer, as a URI fragment, extended by keys (RFC 6901 section 6). */
export const join = (pointer: string, ...keys: string[]): string => keys.reduce(below, pointer)

/** Returns a pointer extended by one key. */
export const below = (pointer: string, key: string): string => `${pointer}/${encoded(key)}`

/**
 * Most keys have no character to encode, and `encodeURIComponent` is slow for so many. A lone surrogate, for which it
 * throws, stays as it is.
 */
const encoded = (key: string): string =>
  /^[\w.-]*$/.test(key)
    ? key
    : key
        .replaceAll('~', '~0')
        .replaceAll('/', '~1')
        .replace(/\P{Surrogate}+/gu, encodeURIComponent)

/** Returns the keys of a pointer in URI fragment form. A key that is not valid percent-encoded UTF-8 stays as it is. */
export const keysOf = (pointer: string): string[] =>
  /[%~]/.test(pointer) ? pointer.split('/').slice(1).map(keyOf) : pointer.split('/').slice(1)

const keyOf = (text: string): string =>
  /[%~]/.test(text) ? decoded(text).replaceAll('~1', '/').replaceAll('~0', '~') : text

/** Returns a percent-encoded text decoded, or as it is if it is not valid percent-encoded UTF-8. */
export function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/**
 * Returns a pointer of a document in the form of this program, which percent-encodes some characters that the document may
 * have as they are, such as braces.
 */
export const normalized = (pointer: string): string => join('#', ...keysOf(pointer))

/** Returns the value at a pointer in a document, or undefined if there is none. */
export function resolve(document: object, pointer: string): unknown {
  let node: unknown = document
  for (const key of keysOf(pointer)) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined
    node = (node as Node)[key]
  }
  return node
}

type Node = Record<string, unknown>

/** What changes at a location of a document and below it. */
type Branch = { change?: (value: Node) => unknown; below: Map<string, Branch> }

/**
 * Returns a document in which the objects at some pointers are changed, those below another one first. What does not
 * change is not copied.
 */
export function withChanges(document: unknown, changes: Iterable<[string, (value: Node) => unknown]>): unknown {
  const root: Branch = { below: new Map() }
  for (const [pointer, change] of changes) {
    let branch = root
    for (const key of keysOf(pointer)) {
      const next: Branch = branch.below.get(key) ?? { below: new Map() }
      branch.below.set(key, next)
      branch = next
    }
    branch.change = change
  }
  return changedBy(root, document)
}

function changedBy({ change, below }: Branch, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const copy = (below.size === 0 ? value : Array.isArray(value) ? [...value] : { ...value }) as Node
  for (const [key, branch] of below) copy[key] = changedBy(branch, copy[key])
  return change === undefined ? copy : change(copy)
}

/** The targets of the references of each document, which no stage changes. */
const knownTargets = new WeakMap<object, Map<string, unknown>>()

/** Returns what `resolve` returns for a reference of a document; many references have the same target. */
export function targetOf(document: object, reference: string): unknown {
  const known = knownTargets.get(document) ?? new Map<string, unknown>()
  if (known.size === 0) knownTargets.set(document, known)
  const target = known.get(reference)
  if (target !== undefined) return target
  const found = resolve(document, reference)
  known.set(reference, found)
  return found
}
