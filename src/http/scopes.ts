import type { Client } from './authenticated-client.ts'
import { ContractError } from './errors.ts'

/** Returns whether a text is one scope (RFC 6749 section 3.3), which a token and a challenge can name. */
export const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text)

/** Returns the scopes of a text with spaces between them (RFC 6749 section 3.3). */
export const scopesIn = (text: string): string[] => text.split(' ').filter((scope) => scope !== '')

/**
 * Returns the refusal of a client that lacks one of the scopes, undefined when it has them all. The challenge of a bearer
 * scheme names the error and the scopes (RFC 6750 section 3.1); other schemes have no word for it.
 */
export function scopeRefusal(
  client: Client | undefined,
  scopes: readonly string[],
  bearerChallenge?: string,
): ContractError | undefined {
  if (scopes.every((scope) => client?.scopes.includes(scope))) return undefined
  const needed = scopes.join(' ')
  return new ContractError('insufficientScope', `a scope is missing; the operation needs ${needed}`, {
    ...(bearerChallenge !== undefined && {
      'www-authenticate': `${bearerChallenge}, error="insufficient_scope", scope="${needed}"`,
    }),
  })
}
