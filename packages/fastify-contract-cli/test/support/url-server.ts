import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { AddressKind } from '../../src/fetch/address-kinds.ts'
import type { FetchOptions } from '../../src/fetch/url-reader.ts'

/** What a server responds with, by path and query: a text, or a listener. */
export type Pages = Record<string, string | RequestListener>

/** Returns a listener that redirects to a URL. */
export const redirect =
  (to: string): RequestListener =>
  (_request, response) =>
    response.writeHead(302, { Location: to }).end()

/** Starts a server of pages on a loopback address until the end of a test. `asked` lists the requested paths. */
export async function startPages(t: Test, pages: Pages, { isSecure = false, host = '127.0.0.1' } = {}) {
  const asked: string[] = []
  const listener: RequestListener = (request, response) => {
    const path = request.url as string
    asked.push(path)
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined
    if (page === undefined) response.writeHead(404).end()
    else if (typeof page === 'string') response.end(page)
    else page(request, response)
  }
  const server = isSecure ? createSecureServer({ key, cert: certificate }, listener) : createServer(listener)
  await once(server.listen(0, host), 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { port, at: `${isSecure ? 'https' : 'http'}://${host}:${port}`, asked, pages, server }
}

/** The certificate of the servers with HTTPS, which is its own authority, for the hosts of `hosts`. */
export const certificate = readFileSync(join(import.meta.dirname, 'certificate', 'server.crt'), 'utf8')
const key = readFileSync(join(import.meta.dirname, 'certificate', 'server.key'), 'utf8')

/** Loopback addresses that stand for others: all of 127.0.0.0/8 leads to this machine. */
export const addresses = { public: '127.0.0.1', other: '127.0.0.2', private: '127.0.0.3', forbidden: '127.0.0.4' }

const kinds: Record<string, AddressKind> = {
  [addresses.public]: 'public',
  [addresses.other]: 'public',
  [addresses.private]: 'private',
  [addresses.forbidden]: 'forbidden',
}

/**
 * Returns options for URLs whose hosts are not on this machine as far as the rules see.
 *
 * @param hosts The addresses of each host, of which every look-up takes the next list; the last one stays.
 */
export function fakeNetwork(hosts: Record<string, string[][]>): FetchOptions {
  const lookup = (host: string, _options: object, callback: (error: Error | null, found: object[]) => void) => {
    const [found = [], ...later] = hosts[host] ?? []
    if (later.length > 0) hosts[host] = later
    const error = found.length === 0 ? new Error(`no address of ${host}`) : null
    callback(
      error,
      found.map((address) => ({ address, family: 4 })),
    )
  }
  return {
    lookup: lookup as unknown as NonNullable<FetchOptions['lookup']>,
    kindOf: (address) => kinds[address] as AddressKind,
    ca: certificate,
  }
}
