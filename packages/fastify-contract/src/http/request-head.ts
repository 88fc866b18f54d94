import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** Headers that may occur only once (RFC 9110 section 5.3); Node.js would silently take the first. */
const singletons = ['host', 'authorization', 'content-type']

/** The Host header (RFC 9110 section 7.2): host and port as in RFC 3986 section 3.2. */
const host = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

/** Returns the Content-Length in bytes; 0 if there is none, as in a request without a body or with chunks. */
export const contentLength = (headers: IncomingHttpHeaders): number => Number(headers['content-length'] ?? 0)

/** Returns whether a request has a body, which may be empty (RFC 9112 section 6.3). */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/**
 * Returns whether the head of a request already says that it has no content (RFC 9110 section 6.4). Only its end shows
 * whether a chunked body is empty.
 */
export const hasNoContent = (headers: IncomingHttpHeaders): boolean =>
  contentLength(headers) === 0 && headers['transfer-encoding'] === undefined

/** Returns a message about a malformed head that Node.js accepts; undefined if the head is well-formed. */
export function malformedHead({ rawHeaders, headers, httpVersion, url = '' }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `HTTP ${httpVersion} is not supported; use HTTP/1.1`
  // RFC 9112 section 3.2: a path and query, or the asterisk of OPTIONS, without a fragment.
  if ((!url.startsWith('/') && url !== '*') || url.includes('#')) return 'invalid request target'
  const repeated = repeatedSingleton(rawHeaders)
  if (repeated !== undefined) return `the header ${repeated} is given more than once`
  if (headers.host === undefined) {
    if (httpVersion === '1.1') return 'the header host is missing'
  } else if (!host.test(headers.host)) return 'the header host is not a valid host'
  // RFC 9112 section 6.1: HTTP/1.0 has no transfer codings, and the end of a body in an unknown coding is unknown.
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return 'unsupported transfer encoding; use chunked with HTTP/1.1'
  }
  return undefined
}

function repeatedSingleton(rawHeaders: string[]): string | undefined {
  let seen = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] as string
    for (let at = 0; at < singletons.length; at++) {
      const name = singletons[at] as string
      if (given.length !== name.length || given.toLowerCase() !== name) continue
      if (seen & (1 << at)) return name
      seen |= 1 << at
    }
  }
  return undefined
}

/**
 * Parses a query string to lists of values by name. Names are decoded. Values stay percent-encoded, because a list must
 * be split before it is decoded.
 */
export const parseQuery = (text: string): Record<string, string[]> =>
  text === '' ? {} : parsePairs(text.split('&'), decodeText)

/** Parses a Cookie header (RFC 6265 section 4.2.1) to lists of values by name; values stay percent-encoded. */
export const parseCookies = (text = ''): Record<string, string[]> =>
  parsePairs(
    text.split(';').map((pair) => pair.trim()),
    decodeURIComponent,
  )

/**
 * Removes the quotes around a cookie value (RFC 6265 section 4.1.1): some clients, such as those of Go and aiohttp, write a
 * value with spaces or commas in quotes.
 */
export function unquotedCookie(value: string): string {
  const escaped = escapedCookie.exec(value)?.[1]
  if (escaped === undefined) return /^"([^"]*)"$/.exec(value)?.[1] ?? value
  return escaped.replace(cookieEscape, (_, code) => unescaped(code))
}

/**
 * A character of a cookie in quotes as clients in Python write it, such as aiohttp: the octal code of a printable character
 * of ISO-8859-1, or a quote or backslash after a backslash. A backslash is no character of a cookie by itself (RFC 6265
 * section 4.1.1).
 */
const cookieEscape = /\\(["\\]|0[4-7][0-7]|1[0-6][0-7]|17[0-6]|2[4-7][0-7]|3[0-7]{2})/g
const escapedCookie = new RegExp(`^"((?:[^"\\\\]|${cookieEscape.source.replace('(', '(?:')})*)"$`)

const unescaped = (code: string): string => (code.length === 1 ? code : String.fromCharCode(Number.parseInt(code, 8)))

function parsePairs(given: string[], decode: (text: string) => string): Record<string, string[]> {
  const pairs: Record<string, string[]> = {}
  for (const pair of given) {
    // An empty pair is skipped (URL Standard, section 5.1).
    if (pair === '') continue
    const [encoded = '', value = ''] = pair.split(/=(.*)/s)
    const name = /%|\+/.test(encoded) ? decodedOrSame(encoded, decode) : encoded
    if (Object.hasOwn(pairs, name)) pairs[name]?.push(value)
    // A plain assignment to __proto__ would set the prototype.
    else Object.defineProperty(pairs, name, { value: [value], enumerable: true })
  }
  return pairs
}

/** Decodes form-encoded text, in which `+` is a space. Throws a URIError for text that is not percent-encoded UTF-8. */
export const decodeText = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

/** Decodes a text. One that cannot be decoded stays as it is: no document has such a name or value. */
export function decodedOrSame(encoded: string, decode = decodeText): string {
  try {
    return decode(encoded)
  } catch {
    return encoded
  }
}
