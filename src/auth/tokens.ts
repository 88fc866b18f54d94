import { hash, randomBytes } from 'node:crypto'
import { formatToken } from './token-format.ts'

/**
 * Gives the name of the client whose token it is, undefined for a token that is not accepted. Rejects with an error whose
 * `retryAfter` is in seconds when nobody can tell now. `mayCost` tells whether more than a look-up is done for the token.
 */
export type VerifyToken = (token: string, mayCost?: () => boolean) => string | undefined | Promise<string | undefined>

/**
 * Takes the accepted tokens, and the name of the client of each by its number, from 1; gives their verifier, which holds
 * only digests.
 */
export function tokenVerifier(
  tokens: string[],
  nameOf = (number: number): string => `access-token-${number}`,
): VerifyToken {
  const names = new Map(tokens.map((token, index) => [hash('sha256', token), nameOf(index + 1)]))
  // It need not take constant time: nobody can choose a token by its digest, so to learn of digests is of no use.
  return (token) => names.get(hash('sha256', token))
}

/** A token that nobody can guess: 256 bits, in the alphabet of RFC 6750 section 2.1. */
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

/** What is wrong with a token, in words that do not show it; undefined for one of at least 128 bits. */
export function tokenProblem(token: string): string | undefined {
  const size = alphabets.find(([alphabet]) => alphabet.test(token))?.[1]
  if (size === undefined) return 'has characters other than letters, digits and -._~+/='
  const bits = Math.floor(token.length * Math.log2(size))
  if (bits < 128) return `has ${token.length} characters, at most ${bits} bits`
  if (new Set(token).size < 8) return 'repeats a few characters'
  return undefined
}
