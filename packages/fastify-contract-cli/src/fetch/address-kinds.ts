import ipaddr from 'ipaddr.js'

/**
 * Where an address leads: to the internet, to this machine, or to a private network. Documents never come from forbidden
 * addresses: link-local ones, such as those of metadata services, multicast, broadcast and unspecified ones.
 */
export type AddressKind = 'public' | 'loopback' | 'private' | 'forbidden'

const forbidden = ['linkLocal', 'unspecified', 'multicast', 'broadcast']

/** The prefix of RFC 6052 for IPv4 addresses that NAT64 translates; the last 32 bits are the IPv4 address. */
const translated = ipaddr.parseCIDR('64:ff9b::/96') as [ipaddr.IPv6, number]

/** The only IPv6 addresses that are public (RFC 4291 section 2.4, IANA's registry of IPv6 address space). */
const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/** Returns the kind of an IP address by IANA's registries of special-purpose addresses. Every other one is private. */
export function addressKind(text: string): AddressKind {
  const address = ipaddr.process(text)
  if (address.kind() === 'ipv6') {
    const six = address as ipaddr.IPv6
    if (six.match(translated)) return addressKind(ipaddr.fromByteArray(six.toByteArray().slice(12)).toString())
    // The range of ::127.0.0.1 (RFC 4291 section 2.5.5.1) is unicast.
    if (six.range() === 'unicast' && !six.match(globalUnicast)) return 'private'
  }
  const range = address.range()
  if (range === 'unicast') return 'public'
  if (range === 'loopback') return 'loopback'
  return forbidden.includes(range) ? 'forbidden' : 'private'
}
