import { ContractError } from '../contract/errors.ts'
import type { Guard } from '../http/request-guards.ts'
import { protocolHeaders } from './protocol.ts'

/**
 * Returns the guard against pages of other origins: a page can reach a server of its visitor's network by DNS rebinding,
 * but it cannot forge its origin. Pages of the given origins may read the responses, as the CORS protocol demands
 * (fetch.spec.whatwg.org section 3.2).
 */
export function checkOrigin(origins: string[]): Guard {
  return function checkOwnOrigin({ headers: { origin } }, reply) {
    if (origin === undefined) return undefined
    if (!origins.includes(origin)) return new ContractError('insufficientScope', 'this origin may not call tools')
    reply.headers({
      vary: 'Origin',
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'WWW-Authenticate',
    })
    return undefined
  }
}

/** Returns what a page of an allowed origin may send, for the response to a preflight request. */
export const pagePermissions = (credentials: string[]) => ({
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': [...protocolHeaders, ...credentials].join(', '),
  // Seconds; Chromium caps it at this value.
  'access-control-max-age': '7200',
})
