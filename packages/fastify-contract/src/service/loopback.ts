/** Returns whether only this machine reaches an address (RFC 6890). A Unix socket has no address. */
export const isLoopback = (address = ''): boolean => /^(::ffff:)?127\.|^::1$/.test(address)

/**
 * Returns the origins of the pages of an admin server at a URL, as browsers send them; none if the URL is not that of a
 * loopback address.
 */
export function pageOrigins(adminUrl: string): string[] {
  const url = new URL(adminUrl)
  if (!isLoopback(url.hostname.replace(/[[\]]/g, ''))) return []
  const { origin } = url
  url.hostname = 'localhost'
  return [origin, url.origin]
}

/**
 * Returns the URL at which a browser on this machine reaches a service. A Content-Security-Policy cannot name an IPv6
 * address, and 0.0.0.0 and :: are no addresses to connect to.
 */
export const browserUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace(/\/\/\[::1?\]:/, '//localhost:')
