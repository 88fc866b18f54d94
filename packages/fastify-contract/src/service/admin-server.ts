import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, isIPv4, isIPv6, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { createForwarder, forwardedPath } from './forward-request.ts'
import { type AdminOptions, type AdminResponse, localOnlyResponse, pages } from './pages.ts'

/** Timeouts in milliseconds, and the header size in bytes. */
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8_192,
}

/** The maximum number of connections. One more closes the oldest. */
export const connectionLimit = 64

/** The socket timeout in milliseconds, for a client that does not read. */
const socketTimeout = 30_000

/**
 * Creates the admin server, which is not listening yet. It serves probes, metrics, the docs page and the OpenAPI
 * document. On a loopback address it also serves the forms of try.html and forwards their requests. Each response
 * closes its connection. close() stops the server gracefully, and closeAllConnections() at once.
 */
export function createAdminServer(options: AdminOptions): Server {
  const respond = createResponder(options, () => isLoopback((server.address() as AddressInfo | null)?.address))
  const server = createServer(limits, async (request, response) => {
    const { status = 200, headers, body } = await respond(request).catch(errorResponse)
    const isStream = typeof body === 'object' && !Buffer.isBuffer(body)
    response.writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      ...(!isStream && { 'content-length': Buffer.byteLength(body) }),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      connection: 'close',
      ...headers,
    })
    if (!isStream) response.end(body)
    // pipeline destroys both streams when one fails, so the client notices the failure.
    else await pipeline(body, response).catch(() => {})
  })
  limitConnections(server)
  server.setTimeout(socketTimeout)
  // The caller handles an error of listen(). Later errors are ignored: a connection that cannot be accepted affects
  // only its client.
  server.once('listening', () => server.on('error', () => {}))
  return server
}

/**
 * Closes the oldest connection when a new one exceeds the limit, so that no client can lock out probes. It closes one
 * that has not sent a complete request head, unless more than half of all connections have sent one.
 */
function limitConnections(server: Server): void {
  const withoutRequest = new Set<Socket>()
  const withRequest = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    if (withoutRequest.size + withRequest.size === connectionLimit) {
      const [oldest] = withRequest.size > connectionLimit / 2 ? withRequest : withoutRequest
      forget(oldest as Socket)
      oldest?.destroy()
    }
    withoutRequest.add(socket)
    socket.once('close', () => forget(socket))
  })
  // Each response closes its connection, so a connection serves only one request.
  server.prependListener('request', ({ socket }: IncomingMessage) => {
    if (withoutRequest.delete(socket)) withRequest.add(socket)
  })
  function forget(socket: Socket): void {
    withoutRequest.delete(socket)
    withRequest.delete(socket)
  }
}

/**
 * Returns a function that resolves with the response to a request.
 *
 * @param isLocal Returns whether the server listens on a loopback address.
 */
function createResponder(
  options: AdminOptions,
  isLocal: () => boolean,
): (request: IncomingMessage) => Promise<AdminResponse> {
  const all = pages(options)
  const forward = createForwarder(options.serviceUrl)
  return async (request) => {
    if (request.headersDistinct.host?.[1] !== undefined)
      return { status: 400, body: 'the request has more than one Host header\n' }
    if (isMisdirected(request)) return { status: 421, body: 'Host must be localhost or an IP address\n' }
    const url = request.url as string
    if (url.startsWith(`${forwardedPath}/`)) return isLocal() ? await forward(request) : localOnlyResponse
    const page = all.get(url.replace(/\?.*$/s, ''))
    if (page === undefined) return { status: 404, body: 'there is nothing at this path; / lists the paths\n' }
    if (request.method === 'GET' || request.method === 'HEAD') return await page(isLocal())
    return { status: 405, headers: { allow: 'GET, HEAD' }, body: 'only GET and HEAD are allowed\n' }
  }
}

/**
 * Returns whether a request to a loopback address has a Host other than localhost or an IP address. In a DNS rebinding
 * attack, a web page resolves its own name to the loopback address, to read local pages in the browser. Other addresses
 * are not checked, since the names of the service on a network are unknown.
 */
function isMisdirected({ headers: { host = 'localhost' }, socket: { localAddress = '' } }: IncomingMessage): boolean {
  if (!isLoopback(localAddress)) return false
  const [, ipv6, name = ''] = hostAndPort.exec(host) ?? []
  return ipv6 === undefined ? !isIPv4(name) && name.toLowerCase() !== 'localhost' : !isIPv6(ipv6)
}

/** Returns whether only this machine reaches an address (RFC 6890). A Unix socket has no address. */
const isLoopback = (address = ''): boolean => /^(::ffff:)?127\.|^::1$/.test(address)

/** RFC 9110 section 7.2: an IPv6 address in brackets or another host, and an optional port. */
const hostAndPort = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d*)?$/

const errorResponse = ({ message }: Error): AdminResponse => ({ status: 500, body: `${message}\n` })
