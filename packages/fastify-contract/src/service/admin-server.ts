import { readFile, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { type AddressInfo, isIPv4, isIPv6, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import type { Contract } from '../contract/routes.ts'
import { toContractError } from '../http/error-responses.ts'
import { lingeringClose } from '../http/lingering-close.ts'
import { defaultLimits } from '../limits/limits.ts'

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
 * Creates the admin server, which is not listening yet. It serves probes, metrics, the documentation page and the
 * OpenAPI document. On a loopback address it also serves try.html, whose forms call the service. Each response closes
 * its connection. close() stops the server gracefully, and closeAllConnections() at once.
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
  const all = pages(options)
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

/** Returns whether only this machine reaches an address (RFC 6890). A Unix socket has no address. */
const isLoopback = (address = ''): boolean => /^(::ffff:)?127\.|^::1$/.test(address)

/** RFC 9110 section 7.2: an IPv6 address in brackets or another host, and an optional port. */
const hostAndPort = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d*)?$/

const errorResponse = ({ message }: Error): AdminResponse => ({ status: 500, body: `${message}\n` })

export type AdminOptions = {
  contract: Contract
  /** The path of the documentation page, which may be missing. */
  docs: string
  /** Resolves with the metrics in the Prometheus text format. */
  metrics(): Promise<string>
  /** Returns why the service is not ready; undefined if it is. */
  unreadyReason(): string | undefined
  /** Called with the readiness at each readiness probe and each scrape of the metrics. */
  onReady(good: boolean): void
  /** Returns the URL of the service, or undefined before it listens. */
  serviceUrl(): string | undefined
}

/** A response of the admin server; default: status 200 and plain text. */
export type AdminResponse = {
  status?: number
  headers?: Record<string, string>
  body: string | Buffer
}

/** @param isLocal Whether only this machine can reach the pages. */
type Page = (isLocal: boolean) => AdminResponse | Promise<AdminResponse>

const pathList = `/livez         whether the process is alive
/readyz        whether the service is ready, and why not
/metrics       metrics in the Prometheus text format
/docs          the documentation of the service
/history.html  the changes of each version of the OpenAPI document
/try.html      a form for each operation, which sends requests to the service
/openapi.json  the OpenAPI document
`

/**
 * Returns what the documentation page needs to show the forms of try.html, and the address of the service in its samples:
 * a link with the address, from which its script adds one to each operation, and the permission to frame the forms.
 * Published docs have neither, since there is no service beside them.
 */
const formsAdded = (serviceUrl: string | undefined): Edit[] => {
  const address = serviceUrl === undefined ? '' : ` data-service="${browserUrl(serviceUrl)}"`
  return [
    ['<!-- try.html -->', `<a href="try.html"${address}>Try an operation</a>`],
    ["frame-src 'none'", "frame-src 'self'"],
  ]
}

/** The response to try.html on other than loopback addresses, whose origins the service does not allow. */
const localOnlyResponse: AdminResponse = {
  status: 404,
  body:
    'this page needs a loopback MANAGEMENT_HOST such as 127.0.0.1; from another machine use a tunnel to both ports: ' +
    'ssh -L 3000:127.0.0.1:3000 -L 3001:127.0.0.1:3001 HOST\n',
}

/**
 * Returns the origins of the pages of an admin server at a URL, as browsers send them; none if the URL is not that of a
 * loopback address.
 */
export function pageOrigins(adminUrl: string): string[] {
  const url = new URL(adminUrl)
  if (!isLoopback(url.hostname.replace(/[[\]]/g, ''))) return []
  const { origin } = url
  url.hostname = 'localhost'
  return [origin, url.origin]
}

/** Returns the pages of the admin server, by path. */
function pages({ contract, docs, metrics, unreadyReason, onReady, serviceUrl }: AdminOptions) {
  const { title, version } = contract.routes.info
  function checkReadiness(): string | undefined {
    const reason = unreadyReason()
    onReady(reason === undefined)
    return reason
  }
  const readDocs = pageReader(docs)
  const readHistory = pageReader(join(dirname(docs), 'history.html'))
  const readTry = pageReader(join(dirname(docs), 'try.html'), 'npx fastify-contract dev')
  const docsPage: Page = (isLocal) => readDocs(isLocal ? formsAdded(serviceUrl()) : [])
  const openApi = { headers: { 'content-type': 'application/json' }, body: Buffer.from(contract.documentText) }
  /** The scrape in progress, which concurrent requests share. */
  let scrape: Promise<string> | undefined
  const byPath: Record<string, Page> = {
    '/': () => ({ body: `${title} ${version}\n\n${pathList}` }),
    '/livez': () => ({ body: 'alive\n' }),
    '/readyz'() {
      const reason = checkReadiness()
      return reason === undefined ? { body: 'ready\n' } : { status: 503, body: `${reason}\n` }
    },
    async '/metrics'() {
      // The readiness metric is measured at the scrape, so that it does not depend on probes.
      checkReadiness()
      scrape ??= metrics().finally(() => {
        scrape = undefined
      })
      return { headers: { 'content-type': prometheus }, body: await scrape }
    },
    '/docs': docsPage,
    // The documentation page and its history link to each other under their file names.
    '/index.html': docsPage,
    '/history.html': () => readHistory([]),
    '/try.html': (isLocal) => (isLocal ? tryPage(readTry, serviceUrl()) : localOnlyResponse),
    '/openapi.json': () => openApi,
  }
  return new Map(Object.entries(byPath))
}

const prometheus = 'text/plain; version=0.0.4; charset=utf-8'

/** The directive that works only in a header. The rest of the policy is in the page, with the hash of its script. */
const policyOf = (ancestors: "'none'" | "'self'") => ({ 'content-security-policy': `frame-ancestors ${ancestors}` })

/**
 * Matches the placeholder for the URL of the service in try.html: in its Content-Security-Policy, and for its script.
 */
const urlMarker = /(?<=connect-src |data-service=")SERVICE_URL/g

async function tryPage(read: ReadPage, serviceUrl: string | undefined): Promise<AdminResponse> {
  if (serviceUrl === undefined) return { status: 503, body: 'the service is not listening yet; try again later\n' }
  const page = await read([[urlMarker, browserUrl(serviceUrl)]])
  return { ...page, headers: { ...page.headers, ...policyOf("'self'") } }
}

/**
 * Returns the URL at which a browser on this machine reaches a service. A Content-Security-Policy cannot name an IPv6
 * address, and 0.0.0.0 and :: are no addresses to connect to.
 */
export const browserUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace(/\/\/\[::1?\]:/, '//localhost:')

type Edit = [from: string | RegExp, to: string]

/** Resolves with a page in which each pattern is replaced by its text. */
type ReadPage = (edits: Edit[]) => Promise<AdminResponse>

/**
 * Returns a function that reads a page of HTML. Concurrent and later requests share its bytes, until the file or the
 * edits change: with bytes of its own, each request for a page of megabytes would delay the probes.
 */
function pageReader(path: string, command = 'npx fastify-contract docs'): ReadPage {
  let kept: { state: string; body: Promise<Buffer | undefined> } | undefined
  const read = async (edits: Edit[]) => {
    const bytes = await readFile(path)
    return edits.length === 0 ? bytes : Buffer.from(edits.reduce((text, edit) => text.replace(...edit), String(bytes)))
  }
  return async function readPage(edits) {
    const file = await stat(path).catch(() => undefined)
    const state = [file?.ino, file?.size, file?.mtimeMs, file?.ctimeMs, ...edits.flat()].join(' ')
    if (kept?.state !== state) kept = { state, body: read(edits).catch(() => undefined) }
    const body = await kept.body
    if (body === undefined) return { status: 404, body: `the page has not been built; run ${command}\n` }
    return { headers: { 'content-type': 'text/html; charset=utf-8', ...policyOf("'none'") }, body }
  }
}
