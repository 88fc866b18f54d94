import { hash } from 'node:crypto'
import type { Client } from '../http/authenticated-client.ts'
import { digestLookup } from './token-digests.ts'

type Options = {
  /** Milliseconds. */
  maxAge?: number
  /** The most tokens that are held. */
  size?: number
  /** Returns monotonic milliseconds. */
  now?(): number
  /** Returns milliseconds since 1970. */
  wallClock?(): number
}

export type VerifiedTokens = {
  /** The client of a token that was verified lately. */
  get(token: string): Client | undefined
  /** Adds a token that expires at a time in milliseconds since 1970. */
  add(token: string, client: Client, expires: number): void
}

/**
 * Remembers for a minute which tokens were good: a signature costs far more than a digest. Only digests are held, and
 * only of good tokens, so that nobody without one can push out those of others; the oldest go first.
 */
export function verifiedTokens({
  maxAge = 60_000,
  size = 10_000,
  now = () => performance.now(),
  wallClock = () => Date.now(),
}: Options = {}): VerifiedTokens {
  const verified = new Map<string, { client: Client; until: number; expires: number }>()
  return {
    get: digestLookup((digest) => {
      const found = verified.get(digest)
      return found !== undefined && now() < found.until && wallClock() < found.expires ? found.client : undefined
    }),
    add(token, client, expires) {
      const digest = hash('sha256', token)
      // Written again, it is the newest of the map.
      verified.delete(digest)
      verified.set(digest, { client, until: now() + maxAge, expires })
      if (verified.size > size) verified.delete(verified.keys().next().value as string)
    },
  }
}
