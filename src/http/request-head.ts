import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** RFC 9110 section 5.3 allows these once only; Node would silently take the first. */
const singletons = ['host', 'authorization', 'content-type']

/** RFC 9110 section 7.2: host and port of RFC 3986 section 3.2. */
const host = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

/** The announced length of a body in bytes; 0 where there is none, or where it comes in chunks. */
export const contentLength = (headers: IncomingHttpHeaders): number => Number(headers['content-length'] ?? 0)

/** Returns whether a request has a body, which may have no bytes (RFC 9112 section 6.3). */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** Returns what is malformed in the head of a request that Node accepts, undefined when nothing is. */
export function malformedHead({ rawHeaders, headers, httpVersion, url = '' }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `HTTP ${httpVersion} is not spoken here`
  // RFC 9112 section 3.2: a path and a query, or the asterisk of OPTIONS; a fragment is never sent.
  if ((!url.startsWith('/') && url !== '*') || url.includes('#')) return 'the request target is not one'
  const repeated = repeatedSingleton(rawHeaders)
  if (repeated !== undefined) return `the header ${repeated} is given more than once`
  if (headers.host === undefined) {
    if (httpVersion === '1.1') return 'the header host is missing'
  } else if (!host.test(headers.host)) return 'the header host is not a host'
  // RFC 9112 section 6.1: HTTP/1.0 has no transfer codings, and where one is not known the end of the body is not known.
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    return 'the transfer encoding is not chunked'
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
