import { httpDate } from '../preconditions/http-dates.ts'

/** Directives of a response (RFC 9111 section 5.2.2, RFC 5861 and RFC 8246). Durations are in seconds. */
export type CacheDirectives = {
  /** Who may store the response: any cache, only that of one client, or none. */
  store?: 'public' | 'private' | 'none'
  /** Whether a cache must ask the server before each use, with a conditional request. */
  noCache?: true
  maxAge?: number
  /** The same for shared caches, in place of `maxAge`. */
  sharedMaxAge?: number
  mustRevalidate?: true
  noTransform?: true
  immutable?: true
  staleWhileRevalidate?: number
  staleIfError?: number
}

/** Returns the value of Cache-Control. Throws a RangeError for a duration that is no whole number of seconds. */
export function cacheControl(given: CacheDirectives): string {
  const { store, maxAge, sharedMaxAge, staleWhileRevalidate, staleIfError } = given
  const flags: [name: string, isSet: unknown][] = [
    ['no-cache', given.noCache],
    ['must-revalidate', given.mustRevalidate],
    ['no-transform', given.noTransform],
    ['immutable', given.immutable],
  ]
  const durations: [name: string, seconds: number | undefined][] = [
    ['max-age', maxAge],
    ['s-maxage', sharedMaxAge],
    ['stale-while-revalidate', staleWhileRevalidate],
    ['stale-if-error', staleIfError],
  ]
  return [
    ...(store === undefined ? [] : [store === 'none' ? 'no-store' : store]),
    ...flags.flatMap(([name, isSet]) => (isSet ? [name] : [])),
    ...durations.flatMap(([name, seconds]) =>
      seconds === undefined ? [] : [`${name}=${wholeSeconds(name, seconds)}`],
    ),
  ].join(', ')
}

const fieldName = /^[\w!#$%&'*+.^`|~-]+$/

/** Returns the value of Vary: the names of request headers, or `*`. Throws a TypeError for a text that is no name. */
export function vary(...names: [string, ...string[]]): string {
  for (const name of names) if (!fieldName.test(name)) throw new TypeError(`${JSON.stringify(name)} names no header`)
  return names.join(', ')
}

/** Returns the value of Retry-After: seconds from now, or a date (RFC 9110 section 10.2.3). */
export const retryAfter = (when: number | Date): string =>
  typeof when === 'number' ? wholeSeconds('Retry-After', when) : httpDate(when)

function wholeSeconds(name: string, seconds: number): string {
  if (!Number.isSafeInteger(seconds) || seconds < 0)
    throw new RangeError(`${name} must be a whole number of seconds; got ${seconds}`)
  return String(seconds)
}

/** A link to another resource (RFC 8288): its relation, and further attributes such as `title` or `type`. */
export type LinkTarget = { href: string; rel: string; [attribute: string]: string }

/**
 * Returns the value of Link. Characters that a URI cannot contain are percent-encoded. Throws a TypeError for a lone
 * surrogate, for a name of an attribute that is no token, and for a value of one that is not printable ASCII.
 */
export const linkHeader = (...links: [LinkTarget, ...LinkTarget[]]): string => links.map(linkText).join(', ')

function linkText({ href, ...attributes }: LinkTarget): string {
  const texts = Object.entries(attributes).map(function attributeText([name, value]) {
    if (!fieldName.test(name) || !/^[\t -~]*$/.test(value))
      throw new TypeError(`the attribute ${JSON.stringify(name)} of a link must have printable ASCII as its value`)
    return `; ${name}="${value.replace(/["\\]/g, '\\$&')}"`
  })
  return `<${encodedUri(href)}>${texts.join('')}`
}

/** Percent-encodes what RFC 3986 does not allow in a URI reference, and keeps what is encoded already. */
function encodedUri(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new TypeError('a link cannot have a lone surrogate')
  return text.replace(/%(?![\da-fA-F]{2})|[^%!#$&-;=?-Z[\]_a-z~]/gu, encodeURIComponent)
}
