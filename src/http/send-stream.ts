import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { logFailure } from './log-failure.ts'

type Part = Uint8Array | string

/**
 * Sends parts as the body of an answer, as fast as the client takes them. The head waits for the first part, so that a
 * source that fails at once is answered with an error: the promise rejects, and nothing is sent. `begin` sets the headers.
 * A later error is logged and breaks the connection.
 */
export async function sendStream(reply: FastifyReply, parts: AsyncGenerator<Part>, begin: () => void): Promise<void> {
  const first = await parts.next()
  begin()
  // No part is read ahead: what waits is in the buffer of the socket.
  reply.send(Readable.from(resumed(first, parts, reply), { objectMode: false, highWaterMark: 0 }))
}

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

/** Sends the head of an answer to HEAD whose body would be a stream. */
export function sendHead(reply: FastifyReply): void {
  // Fastify gives an answer to HEAD without a payload the length 0.
  reply.send(Readable.from([]))
}
