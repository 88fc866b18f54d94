import { parseDateTime } from 'fastify-contract/contract'
import { targetOf } from './json-pointer.ts'
import type { Document, Endpoint } from './openapi-document.ts'
import { isNode, type Node } from './walk-document.ts'

/** When an operation is deprecated or ends, and the page that explains it. */
export type Announcement = { date: Date; link?: string }

/** The extensions of an operation that announce its end. */
export const announcements = ['x-deprecation', 'x-sunset'] as const

/**
 * Returns what an extension of an operation announces: the time of a date or of an RFC 3339 date-time, alone or as the
 * `date` of an object with a `link`. Undefined if the operation does not have it, or if it is not valid.
 */
export function announcementOf(
  document: Document,
  { pointer }: Endpoint,
  name: (typeof announcements)[number],
): Announcement | undefined {
  const { [name]: value } = targetOf(document, pointer) as Node
  const { date, link } = isNode(value) ? value : { date: value, link: undefined }
  const time = parseDateTime(/^\d{4}-\d\d-\d\d$/.test(String(date)) ? `${date}T00:00:00Z` : String(date))
  if (time === undefined || (link !== undefined && !isLink(link))) return undefined
  return { date: new Date(time), ...(link !== undefined && { link }) }
}

/** Returns whether a value is an absolute URL in the characters that a Link header may contain (RFC 3986). */
const isLink = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/[!#-;=?-Z[\]_a-z~]+$/i.test(value) && URL.canParse(value)

/**
 * Returns the response headers that announce the end of an operation: Deprecation (RFC 9745), Sunset (RFC 8594) and
 * Link (RFC 8288). Undefined if the document announces nothing.
 */
export function deprecationHeaders(document: Document, endpoint: Endpoint): Record<string, string> | undefined {
  const deprecation = announcementOf(document, endpoint, 'x-deprecation')
  const sunset = announcementOf(document, endpoint, 'x-sunset')
  if (deprecation === undefined && sunset === undefined) return undefined
  const links = Object.entries({ deprecation, sunset }).flatMap(([relation, { link } = {}]) =>
    link === undefined ? [] : [`<${link}>; rel="${relation}"`],
  )
  return {
    // A Date of structured fields (RFC 9651 section 3.3.7), in whole seconds.
    ...(deprecation !== undefined && { Deprecation: `@${Math.floor(deprecation.date.getTime() / 1_000)}` }),
    ...(sunset !== undefined && { Sunset: sunset.date.toUTCString() }),
    ...(links.length > 0 && { Link: links.join(', ') }),
  }
}
