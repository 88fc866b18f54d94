import { setImmediate as turn } from 'node:timers/promises'
import type { Client } from '../http/authenticated-client.ts'
import { scopesIn } from '../http/scopes.ts'
import { parseDateTime } from './rfc3339.ts'
import { eachToken, type TokenEntry } from './token-file.ts'

/** Entries that are read before other work passes: some 3 ms of the event loop. */
const slice = 500

/** By the digest of its token, a client and when that expires, in milliseconds since 1970. */
export type Accepted = Map<string, { client: Client; expires: number }>

/**
 * Parses a tokens file in slices that yield to the event loop; returns the tokens and the number of clients with a
 * token that has not expired.
 */
export async function readAccepted(text: string): Promise<{ tokens: Accepted; clients: number }> {
  const tokens: Accepted = new Map()
  const clients = new Set<string>()
  const scopesOf = sharedScopes()
  for (const { name, sha256, expires, scope } of eachToken(text)) {
    const found = { client: { name, scopes: scopesOf(scope) }, expires: timeOf(expires) }
    tokens.set(sha256, found)
    if (isValid(found)) clients.add(found.client.name)
    if (tokens.size % slice === 0) await turn()
  }
  return { tokens, clients: clients.size }
}

/**
 * Returns what splits the scopes of an entry: entries with the same text share one list, so that many cost no memory.
 */
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

export const isValid = ({ expires }: { expires: number }): boolean => Date.now() < expires
