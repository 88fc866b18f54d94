import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { type AddressInfo, isIPv4, isIPv6, type Socket } from 'node:net'
import { toContractError } from '../http/error-responses.ts'
import { lingeringClose } from '../http/lingering-close.ts'
import { defaultLimits } from '../limits/limits.ts'
import { type AdminOptions, type AdminResponse, adminPages } from './admin-pages.ts'
import { isLoopback } from './loopback.ts'

export type { AdminOptions } from './admin-pages.ts'

/** Timeouts in milliseconds, and the header size in bytes. */
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 8_192,
}

/** The maximum number of connections. One more closes the oldest. */
export const connectionLimit = 64

/** The maximum number of connections that are read on after their response. */
const maxLingering = 16

/** The socket timeout in milliseconds, for a client that does not read. */
const socketTimeout = 30_000

/**
 * Creates the admin server, which is not listening yet. It serves probes, metrics, and the documentation page and the
 * OpenAPI document of each API. On a loopback address it also serves try.html, whose forms call the service. Each
 * response closes its connection. close() stops the server gracefully, and closeAllConnections() at once.
 */
export function createAdminServer(options: AdminOptions): Server {
  const respond = createResponder(options, () => isLoopback((server.address() as AddressInfo | null)?.address))
  const server = createServer(limits, async function answer(request, response) {
    const { status = 200, headers, body } = await respond(request).catch(errorResponse)
    // `limitConnections` may have closed the connection meanwhile.
    if (response.destroyed) return
    response.writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      connection: 'close',
      ...headers,
    })
    response.end(body)
  })
  limitConnections(server)
  lingerAfterResponses(server)
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
  server.on('connection', function add(socket: Socket) {
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

/** Lets clients that still send a request get its response, also if the HTTP parser rejects the request. */
function lingerAfterResponses(server: Server): void {
  const { watch, linger } = lingeringClose(() => maxLingering, {
    bytes: defaultLimits.linger,
    time: defaultLimits.lingerTime,
  })
  const withRequest = new WeakSet<Socket>()
  server.prependListener('request', ({ socket }: IncomingMessage, { req }: ServerResponse) => {
    withRequest.add(socket)
    watch(socket, () => !req.complete)
  })
  server.on('clientError', function reject(error: Error, socket: Socket) {
    const { statusCode } = toContractError(error)
    if (withRequest.has(socket) || !socket.writable) socket.destroy()
    else {
      socket.write(`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\nConnection: close\r\n\r\n`)
      linger(socket, () => false)
    }
  })
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
  const all = adminPages(options)
  return async function respond(request) {
    if (request.headersDistinct.host?.[1] !== undefined)
      return { status: 400, body: 'the request has more than one Host header\n' }
    if (isMisdirected(request)) return { status: 421, body: 'Host must be localhost or an IP address\n' }
    const page = all.get((request.url as string).replace(/\?.*$/s, ''))
    if (page === undefined) return { status: 404, body: 'no such path; / lists the paths\n' }
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

/** RFC 9110 section 7.2: an IPv6 address in brackets or another host, and an optional port. */
const hostAndPort = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d*)?$/

const errorResponse = ({ message }: Error): AdminResponse => ({ status: 500, body: `${message}\n` })
