import { once } from 'node:events'
import { type IncomingMessage, request as sendRequest } from 'node:http'
import { finished } from 'node:stream/promises'
import type { Answer } from './pages.ts'

/** Requests that are forwarded at a time. */
export const mostForwarded = 4

/** Milliseconds from a request until the end of its answer. */
const limit = 20_000

/** Where the path of a forwarded request begins. */
export const forwardedPath = '/try'

/**
 * Prefix of each header that is forwarded, in both directions. So the browser adds no cookie and no origin of its own,
 * lets the page send any header, and acts on no header of the service.
 */
const prefix = 'try-'

/** RFC 9110 sections 7.2, 7.6.1 and 10.1.1: headers of one connection, or of the framing. */
const notForwarded =
  /^(connection|content-length|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/

/**
 * Returns a function that forwards requests of the page try.html to the service. It resolves with status 200 and the
 * service's status in the header try-status, or with another status and the reason why there is none. Bodies are
 * streams with backpressure, so none is held in memory.
 *
 * @param time Milliseconds that a request may take.
 */
export function createForwarder(
  serviceUrl: () => string | undefined,
  time = limit,
): (request: IncomingMessage) => Promise<Answer> {
  let forwarded = 0
  return async (request) => {
    const refusal = (status: number, text: string): Answer => ({ status, body: whole([`${text}\n`], request) })
    const service = serviceUrl()
    const { 'sec-fetch-site': site, 'sec-fetch-dest': destination, 'transfer-encoding': coding } = request.headers
    // A browser lets no page choose these two (Fetch Metadata Request Headers, section 2).
    if (site !== 'same-origin' || destination !== 'empty')
      return refusal(403, 'only the page /try.html may ask for this')
    if (coding !== undefined) return refusal(411, 'the body must have a Content-Length')
    if (service === undefined) return refusal(503, 'the service does not listen yet')
    if (forwarded === mostForwarded)
      return refusal(503, `${mostForwarded} requests are being forwarded; try again later`)
    const signal = AbortSignal.timeout(time)
    const path = (request.url as string).slice(forwardedPath.length)
    const { method } = request
    const sent = sendRequest(service, { path, method, headers: headersOf(request), agent: false, signal })
    forwarded++
    // Each answer ends its connection, so the end of the socket is the end of every request on it.
    request.socket.once('close', () => {
      forwarded--
      sent.destroy()
    })
    const answered = once(sent, 'response')
    // The service may refuse a body before it has come whole.
    sent.on('error', () => {})
    request.pipe(sent)
    try {
      const [response] = (await answered) as [IncomingMessage]
      return { headers: answerHeaders(response), body: whole(response, request) }
    } catch (error) {
      if (signal.aborted) return refusal(504, `the service gave no answer within ${time} ms`)
      return refusal(502, `the service gave no answer: ${(error as Error).message}`)
    }
  }
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const length = headers['content-length']
  const named = Object.entries(headers as Record<string, string>).flatMap(([name, value]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : [],
  )
  return {
    ...Object.fromEntries(named.filter(([name]) => name !== '' && !notForwarded.test(name))),
    ...(length !== undefined && { 'content-length': length }),
  }
}

function answerHeaders({
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
 * Yields an answer, then waits for the end of its request: a browser may discard an answer when the connection closes
 * while it still sends.
 */
async function* whole(
  parts: Iterable<string> | AsyncIterable<Buffer>,
  request: IncomingMessage,
): AsyncGenerator<string | Buffer> {
  yield* parts
  request.unpipe().resume()
  await finished(request)
}
