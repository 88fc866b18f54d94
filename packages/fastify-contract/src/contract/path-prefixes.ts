/** Segments of unreserved characters (RFC 3986 section 2.3), which no client and no proxy writes in another way. */
const pathPrefix = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/

/** Returns whether a text can be the prefix of the paths of a document, such as `/v1`. */
export const isPathPrefix = (text: string): boolean => pathPrefix.test(text)

/**
 * Returns what precedes the paths of a document below a prefix: nothing if all of them begin with it already, as those of
 * a server `https://pets.example/v1` below `/v1`; otherwise the prefix. An empty prefix precedes nothing.
 */
export const addedPrefix = (paths: string[], prefix: string): string =>
  prefix === '' || paths.every((path) => path.startsWith(`${prefix}/`)) ? '' : prefix
