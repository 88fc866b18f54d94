import { lookup } from 'node:dns'
import { once } from 'node:events'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { type AddressKind, addressKind } from './address-kinds.ts'
import { ConnectionRules, checkScheme, FetchError, FetchLimitError, hostOf, parsedUrl, shownUrl } from './url-rules.ts'

/** The limits of what is fetched for one document. Bytes are those after decompression. */
export type FetchLimits = {
  fileBytes: number
  bytes: number
  files: number
  /** How many redirects one URL may have. */
  redirects: number
  /** The time for one file, and that for all files, in milliseconds. */
  fileTime: number
  time: number
}

const fetchLimits: FetchLimits = {
  fileBytes: 48 * 2 ** 20,
  bytes: 64 * 2 ** 20,
  files: 1_000,
  redirects: 5,
  fileTime: 30_000,
  time: 120_000,
}

/** How documents are fetched. All but the first two are for tests. */
export type FetchOptions = {
  /** The origins besides that of the document to which references may lead. */
  allowedOrigins?: string[] | undefined
  /** Called before each file is fetched. */
  onFile?: ((url: string, count: number) => void) | undefined
  limits?: Partial<FetchLimits>
  /** Finds the addresses of a host; default: dns.lookup, which asks the system. */
  lookup?: typeof lookup
  kindOf?: (address: string) => AddressKind
  /** The certificates of authorities in PEM; default: those of Node.js. */
  ca?: string
}

/** A fetched file. */
export type Fetched = {
  bytes: Uint8Array
  /** The URL that its relative references are relative to: the last one after redirects (RFC 3986 section 5.1.3). */
  url: string
}

/** Reads the files of one document by their URLs, within the limits and by the rules. */
export class UrlReader {
  readonly #options: FetchOptions
  readonly #limits: FetchLimits
  readonly #rules: ConnectionRules
  readonly #allowed: Set<string>
  readonly #deadline: AbortSignal
  // It has no proxy: the address that a proxy connects to cannot be checked.
  readonly #agent: Agent
  #files = 0
  #bytes = 0

  /** @param document The URL that the user named. Throws a FetchError if it or an allowed origin must not be fetched. */
  constructor(document: string, options: FetchOptions = {}) {
    const { allowedOrigins = [], limits, ca } = options
    const origins = allowedOrigins.map(originOf)
    const hosts = [parsedUrl(document), ...origins.map((origin) => new URL(origin))].map(hostOf)
    this.#options = options
    this.#limits = { ...fetchLimits, ...limits }
    this.#rules = new ConnectionRules(hosts)
    this.#allowed = new Set(origins)
    this.#deadline = AbortSignal.timeout(this.#limits.time)
    this.#agent = new Agent({ keepAlive: true, ...(ca !== undefined && { ca }) })
  }

  /** Fetches the document itself, which redirects may move to another host. Throws a FetchError. */
  async readDocument(document: string): Promise<Fetched> {
    const fetched = await this.#read(parsedUrl(document), () => true)
    this.#allowed.add(new URL(fetched.url).origin)
    this.#rules.endRoot()
    return fetched
  }

  /** Fetches a file to which a reference leads. Throws a FetchError. */
  async read(text: string): Promise<Fetched> {
    const url = new URL(text)
    url.hash = ''
    if (url.protocol === 'https:' || url.protocol === 'http:') {
      if (!this.#allowed.has(url.origin)) {
        throw new FetchError(
          `${shownUrl(url)}: is of another origin than the document; ` +
            `allow it with --allow-origin ${url.origin} of init or generate, or download the files`,
        )
      }
    }
    return await this.#read(url, ({ origin }) => this.#allowed.has(origin))
  }

  /** Closes the connections. */
  close(): void {
    this.#agent.destroy()
  }

  async #read(first: URL, isAllowed: (url: URL) => boolean): Promise<Fetched> {
    const { files, redirects, fileTime } = this.#limits
    if (++this.#files > files)
      throw new FetchLimitError(`${shownUrl(first)}: the document has more than ${files} files; bundle it first`)
    this.#options.onFile?.(shownUrl(first), this.#files)
    const signal = AbortSignal.any([this.#deadline, AbortSignal.timeout(fileTime)])
    let url = first
    for (let count = 0; count <= redirects; count++) {
      checkScheme(url)
      const found = await this.#fetch(url, signal)
      if (!(found instanceof URL)) return { bytes: found, url: url.href }
      if (!isAllowed(found))
        throw new FetchError(`${shownUrl(url)}: redirects to ${shownUrl(found)}; refer to that URL`)
      // Without TLS, anyone on the network path could change the response.
      if (url.protocol === 'https:' && found.protocol !== 'https:')
        throw new FetchError(`${shownUrl(url)}: redirects to ${shownUrl(found)}, without HTTPS; use a URL of HTTPS`)
      url = found
    }
    throw new FetchError(`${shownUrl(first)}: has more than ${redirects} redirects; name the last URL`)
  }

  /** Returns what a URL responds with: the bytes of a file, or the URL of a redirect. */
  async #fetch(url: URL, signal: AbortSignal): Promise<Uint8Array | URL> {
    const name = shownUrl(url)
    try {
      const response = await this.#request(url, signal)
      const { statusCode: status = 0, headers } = response
      const { location } = headers
      if (status >= 300 && status < 400 && location !== undefined) {
        response.destroy()
        if (!URL.canParse(location, url.href))
          throw new FetchError(`${name}: redirects to an invalid URL; name the URL of an OpenAPI document`)
        return withoutHash(new URL(location, url))
      }
      if (status < 200 || status > 299) {
        response.destroy()
        throw new FetchError(`${name}: responds with ${status}; name the URL of an OpenAPI document`)
      }
      return await this.#bodyOf(response, name)
    } catch (error) {
      if (error instanceof FetchError) throw error
      throw new FetchError(`${name}: cannot be fetched (${this.#reasonOf(error as Error, signal)}); check the URL`)
    }
  }

  #reasonOf({ message, name }: Error, signal: AbortSignal): string {
    const { fileTime, time } = this.#limits
    if (this.#deadline.aborted) return `the document took more than ${time / 1000} s`
    if (signal.aborted) return `it took more than ${fileTime / 1000} s`
    return message || name
  }

  async #request(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const host = hostOf(url)
    // Node.js calls no lookup for an IP address.
    if (isIP(host) !== 0) this.#check(url, host)
    const options = {
      signal,
      lookup: this.#lookup(url),
      headers: { Accept: '*/*', 'Accept-Encoding': 'gzip, br, deflate', 'User-Agent': 'fastify-contract' },
    }
    const request =
      url.protocol === 'https:'
        ? requestHttps(url.href, { ...options, agent: this.#agent })
        : requestHttp(url.href, { ...options, agent: false })
    // An abort during the body is also an error of its request.
    request.on('error', () => {}).end()
    const [response] = await once(request, 'response')
    return response
  }

  #check(url: URL, address: string): void {
    const { kindOf = addressKind } = this.#options
    this.#rules.check(url, address, kindOf(address))
  }

  /**
   * Returns a lookup that checks the addresses which are connected to, so that a name server cannot give the check another
   * address than the connection.
   */
  #lookup(url: URL): LookupFunction {
    const { lookup: find = lookup } = this.#options
    return (host, options, callback) => {
      find(host, { ...options, all: true }, (error, addresses) => {
        if (error !== null) return callback(error, [])
        try {
          for (const { address } of addresses) this.#check(url, address)
        } catch (rejection) {
          return callback(rejection as Error, [])
        }
        const [first] = addresses
        return options.all ? callback(null, addresses) : callback(null, first?.address ?? '', first?.family)
      })
    }
  }

  /** Returns the decompressed bytes of a body. Throws a FetchLimitError if there are too many. */
  async #bodyOf(response: IncomingMessage, name: string): Promise<Uint8Array> {
    const { fileBytes, bytes } = this.#limits
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of decompressed(response, name)) {
      size += chunk.length
      if (size > fileBytes) throw new FetchLimitError(`${name}: has more than ${fileBytes} bytes; split it`)
      if (this.#bytes + size > bytes)
        throw new FetchLimitError(`${name}: the document has more than ${bytes} bytes; split it`)
      chunks.push(chunk)
    }
    this.#bytes += size
    return Buffer.concat(chunks)
  }
}

/** Returns an origin that the user allows. Throws a FetchError if it is none. */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || `${url.origin}/` !== url.href)
    throw new FetchError(`--allow-origin: ${JSON.stringify(text)} is no origin; write one such as https://example.com`)
  checkScheme(url)
  return url.origin
}

function withoutHash(url: URL): URL {
  url.hash = ''
  return url
}

/** The decoders of content codings (RFC 9110 section 8.4.1). */
const decoders: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

function decompressed(response: IncomingMessage, name: string): Readable {
  const coding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (coding === 'identity' || coding === '') return response
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
  if (decoder === undefined) {
    response.destroy()
    throw new FetchError(`${name}: has the content coding ${JSON.stringify(coding)}; download it, and name the file`)
  }
  // The reader of the decoder gets the errors of both.
  return pipeline(response, decoder(), () => {})
}
