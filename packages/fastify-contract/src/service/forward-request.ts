import { once } from 'node:events'
import { type IncomingMessage, request as sendRequest } from 'node:http'
import { finished } from 'node:stream/promises'
import type { AdminResponse } from './admin-server.ts'

/** The maximum number of requests that are forwarded concurrently. */
export const forwardLimit = 4

/** The timeout of a request in milliseconds, up to the end of its response. */
const defaultTimeout = 20_000

/** The prefix of the path of a forwarded request. */
export const forwardedPath = '/try'

/**
 * The prefix of each forwarded header, in both directions. With it, the browser adds no cookie or origin of its own,
 * lets the page send any header, and does not act on headers of the service.
 */
const prefix = 'try-'

/** Headers of a single connection or of the message framing (RFC 9110 sections 7.2, 7.6.1 and 10.1.1). */
const notForwarded =
  /^(connection|content-length|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/

/**
 * Returns a function that forwards requests of the page try.html to the service. It resolves with status 200 and the
 * service's status in the header try-status, or with an error status and a reason when there is no response. Bodies are
 * streamed with backpressure, so that none is held in memory.
 *
 * @param timeout The timeout of a request in milliseconds.
 */
export function createForwarder(
  serviceUrl: () => string | undefined,
  timeout = defaultTimeout,
): (request: IncomingMessage) => Promise<AdminResponse> {
  let forwarded = 0
  return async (request) => {
    const refusal = (status: number, text: string): AdminResponse => ({
      status,
      body: heldUntilRequestEnds([`${text}\n`], request),
    })
    const service = serviceUrl()
    const { 'sec-fetch-site': site, 'sec-fetch-dest': destination, 'transfer-encoding': coding } = request.headers
    // A page cannot set these two headers (Fetch Metadata Request Headers, section 2).
    if (site !== 'same-origin' || destination !== 'empty')
      return refusal(403, 'only the page /try.html may send this request')
    if (coding !== undefined) return refusal(411, 'the request must have a Content-Length')
    if (service === undefined) return refusal(503, 'the service is not listening yet; try again later')
    if (forwarded === forwardLimit) return refusal(503, `${forwardLimit} requests are being forwarded; try again later`)
    const signal = AbortSignal.timeout(timeout)
    const path = (request.url as string).slice(forwardedPath.length)
    const { method } = request
    const sent = sendRequest(service, { path, method, headers: requestHeaders(request), agent: false, signal })
    forwarded++
    // Each response closes its connection, so the request ends with its socket.
    request.socket.once('close', () => {
      forwarded--
      sent.destroy()
    })
    const responded = once(sent, 'response')
    sent.on('error', () => {})
    // Node.js loses a response that arrives before the body is written, if the service then closes the connection. So
    // the body is sent only when the service asks for it.
    if (sent.hasHeader('expect')) sent.once('continue', () => request.pipe(sent)).flushHeaders()
    else sent.end()
    try {
      const [response] = (await responded) as [IncomingMessage]
      return { headers: responseHeaders(response), body: heldUntilRequestEnds(response, request) }
    } catch (error) {
      if (signal.aborted) return refusal(504, `the service did not respond within ${timeout} ms`)
      return refusal(502, `the service did not respond: ${(error as Error).message}`)
    }
  }
}

function requestHeaders({ headers }: IncomingMessage): Record<string, string> {
  const length = headers['content-length']
  const entries = Object.entries(headers as Record<string, string>).flatMap(([name, value]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : [],
  )
  return {
    ...Object.fromEntries(entries.filter(([name]) => name !== '' && !notForwarded.test(name))),
    ...(length !== undefined && { 'content-length': length }),
    ...(Number(length) > 0 && { expect: '100-continue' }),
  }
}

function responseHeaders({
  statusCode,
  statusMessage,
  headersDistinct,
}: IncomingMessage): Record<string, string | string[]> {
  const headers = Object.entries(headersDistinct).map(([name, values]) => [prefix + name, values as string[]])
  return {
    ...Object.fromEntries(headers),
    [`${prefix}status`]: `${statusCode} ${statusMessage}`,
    'content-type': 'application/octet-stream',
  }
}

/**
 * Yields a response body, then waits for the end of the request: a browser may discard a response when the connection
 * closes while the browser is still sending.
 */
async function* heldUntilRequestEnds(
  parts: Iterable<string> | AsyncIterable<Buffer>,
  request: IncomingMessage,
): AsyncGenerator<string | Buffer> {
  yield* parts
  request.unpipe().resume()
  await finished(request)
}
