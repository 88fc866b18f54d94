import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { logFailure } from './log-failure.ts'

type Part = Uint8Array | string

/**
 * Sends parts as a response body, with backpressure. The head is sent with the first part. If the source fails before
 * that, the promise rejects and nothing is sent, so that the caller can send an error response. `begin` sets the
 * headers. A later error is logged and destroys the connection.
 */
export async function sendStream(reply: FastifyReply, parts: AsyncGenerator<Part>, begin: () => void): Promise<void> {
  const first = await parts.next()
  begin()
  // No part is read ahead; the socket has the only buffer.
  reply.send(Readable.from(resumed(first, parts, reply), { objectMode: false, highWaterMark: 0 }))
}

/** Yields the first part and then the others. Logs an error of the source, since the head has been sent. */
async function* resumed(first: IteratorResult<Part>, parts: AsyncGenerator<Part>, { request }: FastifyReply) {
  if (first.done === true) return
  yield first.value
  try {
    yield* parts
  } catch (error) {
    logFailure(request, error)
    throw error
  }
}

/** Sends the response to a HEAD request for which GET would send a stream. */
export function sendHead(reply: FastifyReply): void {
  // Without a payload Fastify would add Content-Length: 0.
  reply.send(Readable.from([]))
}
