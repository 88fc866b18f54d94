import { parseDateTime } from '../../auth/token-file.ts'
import { join, resolve } from './json-pointer.ts'
import { type Document, type Endpoint, endpoints } from './openapi-document.ts'
import { isNode, type Node } from './walk-document.ts'

/** When an operation is deprecated or ends, and the page that explains it. */
export type Announcement = { date: Date; link?: string }

/** The extensions of an operation that announce its end, with the link relations of their pages. */
const relations = { 'x-deprecation': 'deprecation', 'x-sunset': 'sunset' } as const

type Extension = keyof typeof relations

/**
 * Returns what an extension of an operation announces: the time of a date or of an RFC 3339 date-time, alone or as the
 * `date` of an object with a `link`. Undefined if the operation does not have it, or if it is not valid.
 */
export function announcementOf(document: Document, { pointer }: Endpoint, name: Extension): Announcement | undefined {
  const { [name]: value } = resolve(document, pointer) as Node
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

/** Returns one line for each announcement of an operation that is not valid, or that contradicts the other one. */
export function deprecationProblems(endpoint: Endpoint, document: Document): string[] {
  const operation = resolve(document, endpoint.pointer) as Node
  const problems = (Object.keys(relations) as Extension[])
    .filter((name) => Object.hasOwn(operation, name) && announcementOf(document, endpoint, name) === undefined)
    .map(
      (name) =>
        `${join(endpoint.pointer, name)}: must be a date such as 2027-01-31, or an object with such a date and a link that begins with https://; correct it`,
    )
  const deprecation = announcementOf(document, endpoint, 'x-deprecation')
  const sunset = announcementOf(document, endpoint, 'x-sunset')
  if (deprecation !== undefined && sunset !== undefined && sunset.date < deprecation.date) {
    problems.push(
      `${join(endpoint.pointer, 'x-sunset')}: is before x-deprecation (RFC 9745 section 4); correct one of them`,
    )
  }
  return problems
}

/** Returns one line for all deprecated operations without a date, whose responses therefore do not say so. */
export function undatedDeprecations(document: Document): string[] {
  const undated = endpoints(document).filter((endpoint) => {
    const { deprecated } = resolve(document, endpoint.pointer) as Node
    return deprecated === true && announcementOf(document, endpoint, 'x-deprecation') === undefined
  })
  const [first] = undated
  if (first === undefined) return []
  const others = undated.length === 1 ? '' : `, as ${undated.length - 1} other operations are`
  return [
    `${first.pointer}: is deprecated without a date${others}, so its responses have no Deprecation header; add x-deprecation: YYYY-MM-DD`,
  ]
}
