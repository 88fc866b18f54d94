import { securityScheme } from '../../document/security-schemes.ts'
import type { ResponseCheck } from './check.ts'
import { headerOf } from './documented-response.ts'

export const authenticateHeader: ResponseCheck = {
  name: 'authenticate-header',
  summary: 'A response with the status 401 has a WWW-Authenticate header.',
  find({ request: { operation }, response }, { document, isOwn }) {
    if (response.status !== 401 || headerOf(response, 'www-authenticate') !== undefined) return undefined
    const types = operation.security.flatMap(Object.keys).map((name) => securityScheme(document, name).type)
    // There is no registered scheme for API keys, so that few servers have a challenge for them.
    if (!isOwn && !types.includes('http')) return undefined
    return { expected: 'a WWW-Authenticate header', got: 'no such header', kind: '' }
  },
}
