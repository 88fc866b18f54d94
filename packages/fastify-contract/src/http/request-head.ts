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
