import { isIP } from 'node:net'
import type { AddressKind } from './address-kinds.ts'

/** A URL that is not fetched, or a response that is no file. The message is one line that names the URL. */
export class FetchError extends Error {
  override readonly name: string = 'FetchError'
}

/** A file or a document that exceeds a limit. */
export class FetchLimitError extends FetchError {
  override readonly name = 'FetchLimitError'
}

/** Returns whether a document is named by a URL. */
export const isUrl = (path: string): boolean => /^https?:/i.test(path)

/** Returns the host of a URL as an address or a name: an IPv6 address without its brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** Returns a URL for messages: without credentials, which are secret, and without a fragment. */
export function shownUrl(url: URL): string {
  const shown = new URL(url)
  shown.username = ''
  shown.password = ''
  shown.hash = ''
  return shown.href
}

/** Returns the parsed URL that a user names. Throws a FetchError if it must not be fetched. */
export function parsedUrl(text: string): URL {
  if (!URL.canParse(text)) throw new FetchError('the URL of the document is invalid; correct it')
  const url = new URL(text)
  url.hash = ''
  checkScheme(url)
  return url
}

/** Throws a FetchError unless a URL is one of HTTPS, or one of HTTP on this machine, and has no credentials. */
export function checkScheme(url: URL): void {
  const name = shownUrl(url)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isThisMachine(hostOf(url))))
    throw new FetchError(`${name}: is not a URL of HTTPS; only this machine may use HTTP; use https:`)
  if (url.username !== '' || url.password !== '')
    throw new FetchError(`${name}: has credentials in its URL; download the document, and name the file`)
}

/** Returns whether a host is this machine by its name alone. Parsing a URL brings IPv4 addresses into one form. */
const isThisMachine = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

/**
 * The hosts to which a document may lead. The user names the document, also one in a network of his own; neither a
 * redirect nor a reference nor a name server may lead from a public document to an address that is not public.
 */
export class ConnectionRules {
  readonly #named: Set<string>
  readonly #kinds = new Map<string, AddressKind>()
  /** Whether the document itself came from a public address, at least by a redirect. */
  #isPublic = false
  #isRoot = true

  /** @param hosts The hosts that the user named. */
  constructor(hosts: string[]) {
    this.#named = new Set(hosts)
  }

  /** Ends the part of the document itself: what follows are its references. */
  endRoot(): void {
    this.#isRoot = false
  }

  /** Throws a FetchError if an address of a host, with its kind, must not be connected to. */
  check(url: URL, address: string, kind: AddressKind): void {
    const host = hostOf(url)
    if (!this.#isAllowed(url, host, kind)) {
      throw new FetchError(
        `${shownUrl(url)}: leads to ${address}, a ${kind} address; only the URL of the document itself may lead to an ` +
          'address that is not public; download the document with its files, and name the file',
      )
    }
    if (kind === 'public' && this.#isRoot) this.#isPublic = true
    if (!this.#kinds.has(host)) this.#kinds.set(host, kind)
  }

  #isAllowed({ protocol }: URL, host: string, kind: AddressKind): boolean {
    if (protocol === 'http:' && kind !== 'loopback') return false
    if (kind === 'public') return true
    const first = this.#kinds.get(host) ?? kind
    return kind !== 'forbidden' && this.#named.has(host) && !this.#isPublic && first === kind
  }
}
