import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Client } from '../http/authenticated-client.ts'
import { scopesIn } from '../http/scopes.ts'
import { parseDateTime } from './rfc3339.ts'
import { type TokenEntry, tokenEntries } from './token-file.ts'

/** The number of entries that are read before yielding to the event loop: about 3 ms of work. */
const sliceSize = 500

/** The client of each token and its expiry in milliseconds since 1970, by the SHA-256 digest of the token. */
export type TokenIndex = Map<string, { client: Client; expires: number }>

/**
 * Parses the text of a token file in slices, and yields to the event loop between them. Resolves with the tokens and
 * the number of clients that have a token which has not expired. Rejects as `tokenEntries` throws.
 */
export async function indexTokens(text: string): Promise<{ tokens: TokenIndex; clients: number }> {
  const tokens: TokenIndex = new Map()
  const clients = new Set<string>()
  const scopesOf = sharedScopes()
  for (const { name, sha256, expires, scope } of tokenEntries(text)) {
    const found = { client: { name, scopes: scopesOf(scope) }, expires: timeOf(expires) }
    tokens.set(sha256, found)
    if (isValid(found)) clients.add(found.client.name)
    if (tokens.size % sliceSize === 0) await nextTurn()
  }
  return { tokens, clients: clients.size }
}

/** Returns a function that splits scopes. Entries with the same text share one list, to save memory. */
function sharedScopes(): (scope: TokenEntry['scope']) => readonly string[] {
  const lists = new Map<string, readonly string[]>()
  return (scope = '') => {
    const list = lists.get(scope) ?? scopesIn(scope)
    lists.set(scope, list)
    return list
  }
}

const timeOf = (expires: TokenEntry['expires']): number =>
  expires === undefined ? Number.POSITIVE_INFINITY : (parseDateTime(expires) as number)

/** Returns whether a token has not expired. */
export const isValid = ({ expires }: { expires: number }): boolean => Date.now() < expires
