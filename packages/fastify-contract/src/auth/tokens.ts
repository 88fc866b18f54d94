import { hash, randomBytes } from 'node:crypto'
import type { Client } from '../http/authenticated-client.ts'
import { digestLookup } from './token-digests.ts'
import { formatToken } from './token-format.ts'

/**
 * Returns the client of a token, or undefined when the token is not valid. Rejects with an error whose `retryAfter` is
 * in seconds while a token can be neither accepted nor rejected. A verifier must call `mayCost` before work that takes
 * more than a look-up.
 */
export type VerifyToken = (token: string, mayCost?: () => boolean) => Client | undefined | Promise<Client | undefined>

/**
 * Creates the verifier of a list of tokens, which keeps only their digests. The clients have the given scopes and are
 * named access-token-1, access-token-2, … in the order of the list.
 */
export function listVerifier(tokens: string[], scopes: readonly string[] = []): VerifyToken {
  const clients = new Map(
    tokens.map((token, index): [string, Client] => [
      hash('sha256', token),
      { name: `access-token-${index + 1}`, scopes },
    ]),
  )
  return digestLookup((digest) => clients.get(digest))
}

/** Returns a new random token of 256 bits, in the alphabet of RFC 6750 section 2.1. */
export const newToken = (): string => formatToken(randomBytes(32))

/** The command that makes a token, for messages. */
export const tokenCommand = 'plant-store token create --name NAME'

const alphabets: [RegExp, number][] = [
  [/^\d+$/, 10],
  [/^[\da-f]+$/i, 16],
  [/^[\da-z]+$/, 36],
  [/^[\da-zA-Z]+$/, 62],
  [/^[\w.~+/-]+=*$/, 64],
]

/** Returns why a token is too weak, without showing it, or undefined for a token of at least 128 bits. */
export function tokenProblem(token: string): string | undefined {
  const size = alphabets.find(([alphabet]) => alphabet.test(token))?.[1]
  if (size === undefined) return 'has characters other than letters, digits and -._~+/='
  const bits = Math.floor(token.length * Math.log2(size))
  if (bits < 128) return `has ${token.length} characters, at most ${bits} bits`
  if (new Set(token).size < 8) return 'repeats a few characters'
  return undefined
}
