import type { FastifyReply } from 'fastify'

/** Adds a request header to Vary and keeps those that it already lists. */
export function addVary(reply: FastifyReply, name: string): void {
  const before = reply.getHeader('vary') ?? reply.raw.getHeader('vary')
  reply.header('vary', before === undefined ? name : `${before}, ${name}`)
}
