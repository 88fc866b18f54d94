import { BlockList, isIP } from 'node:net'
import type { VerifyToken } from './tokens.ts'
import { type CredentialScheme, credentialVerifier, type VerifierFactory } from './verifiers.ts'

/** Where a proxy that terminates TLS reports the certificates of its clients. */
export type ProxyCertificate = {
  /**
   * The header that the proxy sets for a verified certificate, such as `Client-Cert` (RFC 9440). The proxy must remove
   * this header from the requests of its clients.
   */
  header: string
  /** Returns the client of a certificate in the notation of the proxy; undefined if it has no access. */
  verify: VerifyToken
}

/**
 * Verifies the certificates of a mutualTLS scheme by `verify`, as a trusted proxy reports them. A request from another
 * address has no certificate, whatever its headers. The factory throws unless the operator names the header and trusts
 * a proxy. The challenge's scheme is not registered, as with `apiKey`.
 */
export function mutualTls({ header, verify }: ProxyCertificate): VerifierFactory {
  return function verifierOf(context) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header)) {
      throw new Error(`mutualTls: ${JSON.stringify(header)} is not a header; name the one with the client certificate`)
    }
    if (context.trustProxy.length === 0) {
      throw new Error(`mutualTls: any client could send ${header}; set trustProxy to the addresses of your proxy`)
    }
    const proxies = addressList(context.trustProxy)
    const certificate: CredentialScheme<string> = {
      challenge: ['MutualTLS'],
      missing: 'a client certificate is required',
      invalid: 'the client certificate is not valid',
      read: ({ raw }) => (proxies(raw.socket.remoteAddress) ? onlyValue(raw.rawHeaders, header) : undefined),
      verify,
    }
    return credentialVerifier(certificate)(context)
  }
}

/** Returns a function that tells whether an address is in a list of addresses and CIDR ranges. */
function addressList(entries: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList()
  for (const entry of entries) {
    const [base = '', length] = entry.split('/')
    if (isIP(base) === 0) throw new Error(`mutualTls: trustProxy has ${entry}; use IP addresses and CIDR ranges`)
    const family = isIP(base) === 6 ? 'ipv6' : 'ipv4'
    if (length === undefined) list.addAddress(base, family)
    else list.addSubnet(base, Number(length), family)
  }
  return (address = '') => isIP(address) > 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Returns the value of a header, undefined when it is missing or empty, or null when there are several. */
function onlyValue(rawHeaders: string[], header: string): string | undefined | null {
  const values = rawHeaders.filter(
    (_, index) => rawHeaders[index - 1]?.toLowerCase() === header.toLowerCase() && index % 2 === 1,
  )
  return values.length > 1 ? null : values[0] || undefined
}
