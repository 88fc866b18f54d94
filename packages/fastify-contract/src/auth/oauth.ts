/** Returns whether a text is a valid scope (RFC 6749 section 3.3). */
export const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text)

/** Splits a space-separated list of scopes (RFC 6749 section 3.3). */
export const scopesIn = (text: string): string[] => text.split(' ').filter((scope) => scope !== '')

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Returns whether keys may be fetched from a URL: an https URL, or an http URL of a loopback host, without a user name
 * and password. Nobody on the network can replace the keys then (RFC 8414 section 6.2).
 */
export function isKeySource(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  return username + password === '' && (protocol === 'https:' || loopback.test(hostname))
}

/** Returns whether a text can be an issuer identifier: a key source without query and fragment (RFC 8414 section 2). */
export const isIssuer = (text: string): boolean => isKeySource(text) && !/[?#\s]/.test(text)
