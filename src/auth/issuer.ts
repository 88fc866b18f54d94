const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Whether keys may come from this URL: nobody on the way can change what https brings, and nothing is on the way to a
 * loopback host (RFC 8414 section 6.2).
 */
export function isKeySource(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  return username + password === '' && (protocol === 'https:' || loopback.test(hostname))
}

/** Whether this can be an issuer identifier: such a URL, without query and fragment (RFC 8414 section 2). */
export const isIssuer = (text: string): boolean => isKeySource(text) && !/[?#\s]/.test(text)
