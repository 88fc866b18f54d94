import { hash } from 'node:crypto'
import type { Client } from '../http/authenticated-client.ts'
import { digestLookup } from './token-digests.ts'

type Options = {
  /** The lifetime of an entry in milliseconds. */
  maxAge?: number
  /** The maximum number of tokens. */
  size?: number
  /** Returns monotonic milliseconds. */
  now?(): number
  /** Returns milliseconds since 1970. */
  wallClock?(): number
}

export type JwtCache = {
  /** Returns the client of a token that was verified within `maxAge`, or undefined. */
  get(token: string): Client | undefined
  /** Adds a verified token, which expires at `expires`, in milliseconds since 1970. */
  add(token: string, client: Client, expires: number): void
}

/**
 * Creates a cache of verified tokens, since verifying a signature takes far longer than a digest. It holds only
 * digests, and evicts the oldest. Only valid tokens are added, so that a client without one cannot evict others.
 */
export function createJwtCache({
  maxAge = 60_000,
  size = 10_000,
  now = () => performance.now(),
  wallClock = () => Date.now(),
}: Options = {}): JwtCache {
  const verified = new Map<string, { client: Client; until: number; expires: number }>()
  return {
    get: digestLookup((digest) => {
      const found = verified.get(digest)
      return found !== undefined && now() < found.until && wallClock() < found.expires ? found.client : undefined
    }),
    add(token, client, expires) {
      const digest = hash('sha256', token)
      // A key that is deleted and set again becomes the newest of the map.
      verified.delete(digest)
      verified.set(digest, { client, until: now() + maxAge, expires })
      if (verified.size > size) verified.delete(verified.keys().next().value as string)
    },
  }
}
