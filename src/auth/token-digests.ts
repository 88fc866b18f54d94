import { hash } from 'node:crypto'

/** Tokens whose digest is remembered, and the length of the longest of them: at most 2 MiB of text. */
const mostTokens = 1_000
const longestToken = 1_024

/**
 * Returns a function that looks a token up by its SHA-256 in hex. It remembers the digest of up to 1,000 tokens that were
 * found, since hashing costs more than the rest of a look-up; a token that is no longer found is forgotten.
 *
 * No look-up takes constant time: V8 hashes the text with a secret seed, and nobody can choose a token by its digest, so
 * timing tells nothing about other tokens.
 */
export function digestLookup<Found>(find: (digest: string) => Found | undefined): (token: string) => Found | undefined {
  const digests = new Map<string, string>()
  return (token) => {
    const known = digests.get(token)
    const digest = known ?? hash('sha256', token)
    const found = find(digest)
    if (found === undefined) digests.delete(token)
    else if (known === undefined && token.length <= longestToken) {
      if (digests.size === mostTokens) digests.delete(digests.keys().next().value as string)
      digests.set(token, digest)
    }
    return found
  }
}
