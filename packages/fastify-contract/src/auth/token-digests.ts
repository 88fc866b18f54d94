import { hash } from 'node:crypto'

/** The maximum number and length of the tokens whose digests are cached: at most 2 MiB of text. */
const maxTokens = 1_000
const maxTokenLength = 1_024

/**
 * Returns a function that looks up a token by its SHA-256 digest in hexadecimal. It caches the digests of up to 1,000
 * tokens that were found, since hashing takes longer than the rest of a look-up. It evicts a token that is no longer
 * found.
 *
 * The look-ups need not take constant time: V8 hashes strings with a secret seed, and no token can be derived from its
 * digest, so timing reveals nothing about other tokens.
 */
export function digestLookup<Found>(find: (digest: string) => Found | undefined): (token: string) => Found | undefined {
  const digests = new Map<string, string>()
  return (token) => {
    const known = digests.get(token)
    const digest = known ?? hash('sha256', token)
    const found = find(digest)
    if (found === undefined) digests.delete(token)
    else if (known === undefined && token.length <= maxTokenLength) {
      if (digests.size === maxTokens) digests.delete(digests.keys().next().value as string)
      // A copy: V8 keeps the whole header in memory for a token that is a slice of it.
      digests.set(Buffer.from(token).toString(), digest)
    }
    return found
  }
}
