import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Some proxies append the port; an IPv6 address is then in brackets, as in RFC 7239 section 6. */
const withPort = /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/

/**
 * Returns the IP address of the client: the one that a trusted proxy reports if it is valid, else that of the
 * connection. Undefined if the connection is already closed.
 */
export function clientAddress({ ip, socket }: FastifyRequest): string | undefined {
  if (ip === socket.remoteAddress) return ip
  const [, ipv6, ipv4] = withPort.exec(ip) ?? []
  const address = ipv6 ?? ipv4 ?? ip
  return isIP(address) > 0 ? address : socket.remoteAddress
}
