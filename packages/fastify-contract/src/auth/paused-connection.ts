import type { Socket } from 'node:net'

/**
 * Pauses a connection until a promise settles, so that an unauthenticated client cannot fill the memory with its body.
 * Does nothing for a connection of Fastify's inject, which cannot be paused.
 */
export function whilePaused<T>(socket: Partial<Socket>, waiting: Promise<T>): Promise<T> {
  socket.pause?.()
  return waiting.finally(() => socket.resume?.())
}
