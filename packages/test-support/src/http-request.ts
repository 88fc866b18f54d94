import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { within } from './poll.ts'

export type HttpResponse = { status: number; headers: IncomingHttpHeaders; body: string }

/**
 * Sends a request and resolves with the response, on a new connection unless an agent is given. Rejects when the
 * connection breaks or the response is late.
 */
export async function httpRequest(url: string, { body = '', ...options }: RequestOptions & { body?: string } = {}) {
  const sent = request(url, { agent: false, ...options })
  // Once the response has begun, its own stream reports errors.
  sent.on('error', () => {})
  const answered = once(sent, 'response').then(([response]) => whole(response))
  sent.end(body)
  return await within(answered, `a response to ${sent.method} ${url}`).catch((error) => {
    sent.destroy()
    throw error
  })
}

async function whole(response: IncomingMessage): Promise<HttpResponse> {
  const { statusCode = 0, headers } = response
  return { status: statusCode, headers, body: await text(response) }
}
