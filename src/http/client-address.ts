import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Some proxies add the port, after an address of IPv6 in brackets (RFC 7239 section 6 has it so). */
const withPort = /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/

/**
 * Returns the address that a request comes from: the one that a trusted proxy tells when that is an address, else the
 * connection's, undefined when the connection is gone.
 */
export function clientAddress({ ip, socket }: FastifyRequest): string | undefined {
  if (ip === socket.remoteAddress) return ip
  const [, ipv6, ipv4] = withPort.exec(ip) ?? []
  const address = ipv6 ?? ipv4 ?? ip
  return isIP(address) > 0 ? address : socket.remoteAddress
}
