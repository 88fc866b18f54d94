import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, isIPv4, isIPv6, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { createForwarder, forwardedPath } from './forward-request.ts'
import { type Answer, type ManagementOptions, onlyLocal, pages } from './pages.ts'

/** Milliseconds, and bytes. */
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8_192,
}

/** Connections at a time; a new one takes the place of an old one. */
export const mostConnections = 64

/** Milliseconds without a byte: for a client that does not read. */
const idle = 30_000

/**
 * Creates the HTTP server for operators, which does not listen yet. It serves probes, metrics, the docs page and the
 * document. On a loopback address it also serves the forms of try.html and forwards their requests. Each answer ends
 * its connection; close() stops the server, closeAllConnections() at once.
 */
export function createManagement(options: ManagementOptions): Server {
  const answer = answers(options, () => isLoopback((server.address() as AddressInfo | null)?.address))
  const server = createServer(limits, async (request, response) => {
    const { status = 200, headers, body } = await answer(request).catch(failed)
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
    // Where one side breaks off, so does the other; the client sees it.
    else await pipeline(body, response).catch(() => {})
  })
  limitConnections(server)
  server.setTimeout(idle)
  // That it cannot listen is its caller's matter; a connection that cannot be accepted later is its client's.
  server.once('listening', () => server.on('error', () => {}))
  return server
}

/**
 * Closes the oldest connection for a new one beyond the limit, so that no client keeps a probe out: one without a whole
 * head, unless more than half of all wait for their answers or do not read them.
 */
function limitConnections(server: Server): void {
  const silent = new Set<Socket>()
  const asking = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    if (silent.size + asking.size === mostConnections) {
      const [oldest] = asking.size > mostConnections / 2 ? asking : silent
      forget(oldest as Socket)
      oldest?.destroy()
    }
    silent.add(socket)
    socket.once('close', () => forget(socket))
  })
  // An answer ends its connection, so a connection has one request that is answered.
  server.prependListener('request', ({ socket }: IncomingMessage) => {
    if (silent.delete(socket)) asking.add(socket)
  })
  function forget(socket: Socket): void {
    silent.delete(socket)
    asking.delete(socket)
  }
}

/** @param isLocal Returns whether the server listens where only this machine reaches it. */
function answers(options: ManagementOptions, isLocal: () => boolean): (request: IncomingMessage) => Promise<Answer> {
  const all = pages(options)
  const forward = createForwarder(options.serviceUrl)
  return async (request) => {
    if (request.headersDistinct.host?.[1] !== undefined) return { status: 400, body: 'Host is given more than once\n' }
    if (isMisdirected(request)) return { status: 421, body: 'ask for localhost or for an address\n' }
    const url = request.url as string
    if (url.startsWith(`${forwardedPath}/`)) return isLocal() ? await forward(request) : onlyLocal
    const page = all.get(url.replace(/\?.*$/s, ''))
    if (page === undefined) return { status: 404, body: 'there is nothing at this path\n' }
    if (request.method === 'GET' || request.method === 'HEAD') return await page(isLocal())
    return { status: 405, headers: { allow: 'GET, HEAD' }, body: 'everything here is only read\n' }
  }
}

/**
 * Whether another name than its own led to a loopback address. A web page can have its name resolved so, to read what
 * only this machine shall in the browser that shows the page. On a network a service goes by names that nobody knows
 * here.
 */
function isMisdirected({ headers: { host = 'localhost' }, socket: { localAddress = '' } }: IncomingMessage): boolean {
  if (!isLoopback(localAddress)) return false
  const [, ipv6, name = ''] = hostAndPort.exec(host) ?? []
  return ipv6 === undefined ? !isIPv4(name) && name.toLowerCase() !== 'localhost' : !isIPv6(ipv6)
}

/** Returns whether only this machine reaches an address (RFC 6890); a socket file has none. */
const isLoopback = (address = ''): boolean => /^(::ffff:)?127\.|^::1$/.test(address)

/** RFC 9110 section 7.2: an address of IPv6 in brackets or another host, and perhaps a port. */
const hostAndPort = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d*)?$/

const failed = ({ message }: Error): Answer => ({ status: 500, body: `${message}\n` })
