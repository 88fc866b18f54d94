import type { FastifyReply } from 'fastify'

/** Names a header of the request that an answer depends on, beside those that are named already, so that caches heed both. */
export function addVary(reply: FastifyReply, name: string): void {
  const before = reply.getHeader('vary') ?? reply.raw.getHeader('vary')
  reply.header('vary', before === undefined ? name : `${before}, ${name}`)
}
