/** Returns the pointer, as a URI fragment, to the place that keys below a pointer lead to (RFC 6901 section 6). */
export const join = (pointer: string, ...keys: string[]): string =>
  [pointer, ...keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')))].join('/')

/** Returns the keys of a pointer that is a URI fragment. What is not percent-encoded UTF-8 stays as it is. */
export const keysOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => decoded(key).replaceAll('~1', '/').replaceAll('~0', '~'))

function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** Returns what a document holds at a pointer, undefined where there is nothing. */
export const resolve = (document: object, pointer: string): unknown =>
  keysOf(pointer).reduce<unknown>((node, key) => {
    const isHeld = typeof node === 'object' && node !== null && Object.hasOwn(node, key)
    return isHeld ? (node as Record<string, unknown>)[key] : undefined
  }, document)
