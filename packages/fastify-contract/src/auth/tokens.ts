import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Client } from '../http/request-context.ts'

/**
 * Returns the client of a token, or undefined when the token is not valid. Rejects with an error whose `retryAfter` is
 * in seconds while a token can be neither accepted nor rejected. It must call `withinFailureLimit` before work that
 * takes more than a look-up, and return undefined if that returns false.
 */
export type VerifyToken = (
  token: string,
  withinFailureLimit?: () => boolean,
) => Client | undefined | Promise<Client | undefined>

/**
 * Creates the verifier of a list of tokens, which keeps only their digests. The clients have the given scopes and are
 * named access-token-1, access-token-2, … in the order of the list. Throws if a token has less than
 * 128 bits, such as '' or 'undefined' from an environment variable that is not set.
 */
export function listVerifier(tokens: string[], scopes: readonly string[] = []): VerifyToken {
  const problem = tokensProblem(tokens)
  if (problem !== undefined) throw new Error(`listVerifier: ${problem}, as from newToken() or openssl rand -hex 32`)
  const clients = new Map(
    tokens.map((token, index): [string, Client] => [
      hash('sha256', token),
      { name: `access-token-${index + 1}`, scopes },
    ]),
  )
  return digestLookup((digest) => clients.get(digest))
}

/**
 * Returns a new random token of 256 bits, in the alphabet of RFC 6750 section 2.1: the prefix, such as `shop_`, 32
 * bytes and a checksum of 4 bytes, both in base64url. Secret scanners find a token by its prefix and its checksum.
 */
export const newToken = (prefix = ''): string => formatToken(prefix, randomBytes(32))

/** Formats 32 random bytes as a token. */
export function formatToken(prefix: string, secret: Buffer): string {
  const unchecked = prefix + secret.toString('base64url')
  return unchecked + checksum(unchecked)
}

/** Returns a CRC-32 in base64url. */
function checksum(text: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(text))
  return bytes.toString('base64url')
}

/**
 * Returns whether a text contains a token of `newToken` with any prefix of letters, digits and one underscore. It does
 * not find tokens without a prefix.
 */
export function containsToken(text: string): boolean {
  // 32 and 4 bytes have 43 and 6 characters in base64url. The expression begins at `_`, so that it takes linear time.
  const candidates = text.matchAll(/_(?<=([a-z\d]+_))(?=([\w-]{43})([\w-]{6}))/gi)
  for (const [, prefix = '', secret = '', sum] of candidates) if (checksum(prefix + secret) === sum) return true
  return false
}

const alphabets: [RegExp, number][] = [
  [/^\d+$/, 10],
  [/^[\da-f]+$/i, 16],
  [/^[\da-z]+$/, 36],
  [/^[\da-zA-Z]+$/, 62],
  [/^[\w.~+/-]+=*$/, 64],
]

/**
 * Returns which token of a list is too weak, without showing it, and what is expected; undefined if each has at least
 * 128 bits.
 */
export function tokensProblem(tokens: string[]): string | undefined {
  for (const [index, token] of tokens.entries()) {
    const problem = tokenProblem(token)
    if (problem !== undefined) return `token ${index + 1} of ${tokens.length} ${problem}; expected at least 128 bits`
  }
  return undefined
}

/** Returns why a token is too weak, without showing it, or undefined for a token of at least 128 bits. */
export function tokenProblem(token: string): string | undefined {
  if (token === '') return 'is empty'
  const size = alphabets.find(([alphabet]) => alphabet.test(token))?.[1]
  if (size === undefined) return 'has characters other than letters, digits and -._~+/='
  const bits = Math.floor(token.length * Math.log2(size))
  if (bits < 128) return `has ${token.length} characters, at most ${bits} bits`
  if (new Set(token).size < 8) return 'repeats a few characters'
  return undefined
}

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
  return function findByDigest(token) {
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

/**
 * Whether a verifier accepts a token that is bound to a key (`cnf`, RFC 7800). Only the client with the key may use such a
 * token, so that a stolen token is useless. A verifier cannot check the key. Use `accept` only behind a proxy that does, by
 * DPoP (RFC 9449) or by the certificate of the connection (RFC 8705).
 */
export type BoundTokens = 'reject' | 'accept'

/** Returns whether a text is a valid scope (RFC 6749 section 3.3). */
export const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text)

/** Splits a space-separated list of scopes (RFC 6749 section 3.3). */
export const scopesIn = (text: string): string[] => text.split(' ').filter((scope) => scope !== '')

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Returns whether keys may be fetched from a URL: an https URL, or an http URL of a loopback host, without a user name
 * and password. So an attacker on the network cannot replace the keys (RFC 8414 section 6.2).
 */
export function isKeySource(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  return username + password === '' && (protocol === 'https:' || loopback.test(hostname))
}

/** Returns whether a text can be an issuer identifier: a key source without query and fragment (RFC 8414 section 2). */
export const isIssuer = (text: string): boolean => isKeySource(text) && !/[?#\s]/.test(text)
