/**
 * Parses a query string to lists of values by name. Names are decoded. Values stay percent-encoded, because a list must
 * be split before it is decoded.
 */
export const parseQuery = (text: string): Record<string, string[]> => parsePairs(text.split('&'), decodeText)

/** Parses a Cookie header (RFC 6265 section 4.2.1) to lists of values by name; values stay percent-encoded. */
export const parseCookies = (text = ''): Record<string, string[]> =>
  parsePairs(
    text.split(';').map((pair) => pair.trim()),
    decodeURIComponent,
  )

function parsePairs(given: string[], decode: (text: string) => string): Record<string, string[]> {
  const pairs: Record<string, string[]> = {}
  for (const pair of given) {
    // An empty pair is skipped (URL Standard, section 5.1).
    if (pair === '') continue
    const [encoded = '', value = ''] = pair.split(/=(.*)/s)
    const name = /%|\+/.test(encoded) ? decodeName(encoded, decode) : encoded
    if (Object.hasOwn(pairs, name)) pairs[name]?.push(value)
    // A plain assignment to __proto__ would set the prototype.
    else Object.defineProperty(pairs, name, { value: [value], enumerable: true })
  }
  return pairs
}

/** Decodes form-encoded text, in which `+` is a space. Throws a URIError for text that is not percent-encoded UTF-8. */
export const decodeText = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

/** Decodes a name. A name that cannot be decoded stays as it is: no document declares it. */
function decodeName(encoded: string, decode: (text: string) => string): string {
  try {
    return decode(encoded)
  } catch {
    return encoded
  }
}
