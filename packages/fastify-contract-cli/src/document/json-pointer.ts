/** Returns a pointer, as a URI fragment, extended by keys (RFC 6901 section 6). */
export const join = (pointer: string, ...keys: string[]): string =>
  keys.reduce((above, key) => `${above}/${encoded(key)}`, pointer)

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
  pointer
    .split('/')
    .slice(1)
    .map((key) => (/[%~]/.test(key) ? decoded(key).replaceAll('~1', '/').replaceAll('~0', '~') : key))

/** Returns a percent-encoded text decoded, or as it is if it is not valid percent-encoded UTF-8. */
export function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** Returns the value at a pointer in a document, or undefined if there is none. */
export const resolve = (document: object, pointer: string): unknown =>
  keysOf(pointer).reduce<unknown>((node, key) => {
    const isHeld = typeof node === 'object' && node !== null && Object.hasOwn(node, key)
    return isHeld ? (node as Record<string, unknown>)[key] : undefined
  }, document)
