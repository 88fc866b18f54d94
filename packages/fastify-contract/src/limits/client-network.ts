import { isIPv6 } from 'node:net'

/**
 * Returns the part of an IP address that identifies one client: a whole IPv4 address, or the first 64 bits of an IPv6
 * address, because each site has at least a /64 of its own (RFC 6177 section 2). An IPv4-mapped IPv6 address (RFC 4291
 * section 2.5.5.2) counts as its IPv4 address.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address
  const [before = '', after] = address.replace(/%.*$/, '').split('::')
  const groups = (text = '') => (text === '' ? [] : text.split(':'))
  const [head, tail] = [groups(before), groups(after)]
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length
  return [...head, ...Array(zeros).fill('0'), ...tail].slice(0, 4).join(':').toLowerCase()
}
