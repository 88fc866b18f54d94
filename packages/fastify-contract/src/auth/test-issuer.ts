import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { TrustedIssuer } from './test-trust.ts'

/** The name of the client with all scopes, and of the user of HTTP Basic. */
export const testClient = 'contract-test'

/** Seconds for which tokens are valid, longer than any test. */
const lifetime = 7 * 86_400

/** Seconds by which a wrong time differs, more than clocks do. */
const wrongBy = 3_600

type Parts = { claims?: Record<string, unknown>; header?: Record<string, unknown>; key?: KeyObject }

/** An issuer of JSON Web Tokens in this process, which signs for the issuer and the audience of a verifier. */
export type TestIssuer = {
  /** The key with which a verifier accepts the tokens. */
  key: { kid: string; publicKey: KeyObject }
  /** Returns an access token (RFC 9068) with scopes, separated by spaces. */
  token(scope: string): string
  /** Returns tokens that are each wrong in one way, by what is wrong. */
  wrongTokens(scope: string): Record<string, string>
}

/** A JSON Web Token without a signature. A verifier rejects it before it needs a key. */
export const unsignedToken = `${encode({ alg: 'none', typ: 'at+jwt' })}.${encode({})}.AA`

/** Creates an issuer with a new key pair. */
export function createTestIssuer({ issuer, audience }: TrustedIssuer): TestIssuer {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const kid = randomUUID()

  function signed({ claims = {}, header = {}, key = privateKey }: Parts): string {
    const now = Math.floor(Date.now() / 1_000)
    const names = { iss: issuer, aud: audience, sub: testClient, client_id: testClient, jti: randomUUID() }
    const start = encode({ alg: 'ES256', typ: 'at+jwt', kid, ...header })
    const input = `${start}.${encode({ ...names, iat: now, exp: now + lifetime, ...claims })}`
    // RFC 7518 section 3.4: the two numbers of the signature, one after the other.
    const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
    return `${input}.${signature.toString('base64url')}`
  }

  return {
    key: { kid, publicKey },
    token: (scope) => signed({ claims: scope === '' ? {} : { scope } }),
    wrongTokens(scope) {
      const now = Math.floor(Date.now() / 1_000)
      return {
        'a token that another key has signed': signed({ claims: { scope }, key: other }),
        'an expired token': signed({ claims: { scope, iat: now - 2 * wrongBy, exp: now - wrongBy } }),
        'a token that is not yet valid': signed({ claims: { scope, nbf: now + wrongBy } }),
        'a token for another audience': signed({ claims: { scope, aud: `${audience}/${randomUUID()}` } }),
        'a token of another issuer': signed({ claims: { scope, iss: `${issuer}/${randomUUID()}` } }),
        'an ID token instead of an access token': signed({ claims: { scope }, header: { typ: 'JWT' } }),
      }
    },
  }
}

/** Returns a value as JSON in base64url, as the parts of a JWT are. */
function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
