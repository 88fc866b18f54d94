import { createServer, type IncomingMessage, type Server } from 'node:http'
import { isIP } from 'node:net'
import { type Answer, type ManagementOptions, pages } from './pages.ts'

/** Milliseconds, and bytes. */
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8_192,
}

/** Milliseconds without a byte: for a client that does not read. */
const idle = 30_000

/**
 * Takes what operators ask for; gives the HTTP server of it, which listens nowhere yet: probes, metrics, the docs page
 * and the document. Each answer ends its connection. It stops with close(), and with closeAllConnections() at once.
 */
export function createManagement(options: ManagementOptions): Server {
  const all = pages(options)
  const server = createServer(limits, async (request, response) => {
    const { status = 200, headers, body } = await answer(request, all).catch(failed)
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
  server.maxConnections = 64
  server.setTimeout(idle)
  // That it cannot listen is its caller's matter; a connection that cannot be accepted later is its client's.
  server.once('listening', () => server.on('error', () => {}))
  return server
}

async function answer(request: IncomingMessage, all: ReturnType<typeof pages>): Promise<Answer> {
  if (isMisdirected(request)) return { status: 421, body: 'ask for localhost or for an address\n' }
  const page = all.get((request.url as string).replace(/\?.*$/s, ''))
  if (page === undefined) return { status: 404, body: 'there is nothing at this path\n' }
  if (request.method === 'GET' || request.method === 'HEAD') return await page()
  return { status: 405, headers: { allow: 'GET, HEAD' }, body: 'everything here is only read\n' }
}

/**
 * Whether another name than its own led to a loopback address. A web page can have its name resolved so, to read what
 * only this machine shall in the browser that shows the page. On a network a service goes by names that nobody knows here.
 */
function isMisdirected({ headers: { host = 'localhost' }, socket: { localAddress = '' } }: IncomingMessage): boolean {
  if (!/^(::ffff:)?127\.|^::1$/.test(localAddress)) return false
  const name = host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1')
  return isIP(name) === 0 && !/^(.+\.)?localhost$/i.test(name)
}

const failed = ({ message }: Error): Answer => ({ status: 500, body: `${message}\n` })
