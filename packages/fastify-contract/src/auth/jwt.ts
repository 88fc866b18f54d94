import { type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose'
import type { Client } from '../http/authenticated-client.ts'
import { scopesIn } from '../http/scopes.ts'
import { cachedJwks, JwksUnavailable, type KeySource, type KeyTimes } from './jwks-fetch.ts'
import { createJwtCache } from './jwt-cache.ts'
import type { VerifyToken } from './tokens.ts'

export type JwtOptions = KeySource & { audience: string; times?: KeyTimes }

/** A JWS in compact form (RFC 7515 section 7.1). Its header begins with a brace, which is an e in base64url. */
const compactJws = /^e[\w-]+\.[\w-]+\.[\w-]+$/

/**
 * The maximum number of concurrent verifications: their clients are not authenticated yet, so anyone can cause them.
 */
const maxInFlight = 1_000

/** The accepted algorithms, all with a public key. A token cannot choose another one (RFC 8725 section 3.1). */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

/**
 * Returns the verifier of the JWT access tokens (RFC 9068) that one issuer signs for one audience. The name of the
 * client is `client_id`, and its scopes are those of `scope`, or else of `scp`. The verifier returns undefined for text
 * that is not a JWT. It rejects with `JwksUnavailable` while the issuer's keys cannot be fetched. Above 1,000
 * concurrent verifications it rejects with another error that has `retryAfter`. Nothing is fetched before the first
 * token.
 */
export function jwtVerifier({ issuer, audience, jwksUrl, times }: JwtOptions): VerifyToken {
  const getKey = cachedJwks({ issuer, jwksUrl }, times)
  const verified = createJwtCache()
  const options: JWTVerifyOptions = {
    algorithms,
    issuer,
    audience,
    // RFC 9068 section 4: an ID token is not an access token, although the issuer signs it with the same key.
    typ: 'at+jwt',
    requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti'],
    clockTolerance: 10,
  }

  let inFlight = 0

  async function verifyWithinLimit(token: string): Promise<Client | undefined> {
    if (inFlight === maxInFlight) {
      throw Object.assign(new Error('too many tokens are being verified'), { retryAfter: 1 })
    }
    inFlight++
    return await verify(token).finally(() => {
      inFlight--
    })
  }

  async function verify(token: string): Promise<Client | undefined> {
    try {
      const { payload } = await jwtVerify(token, getKey, options)
      const client = clientOf(payload)
      if (client !== undefined) verified.add(token, client, Number(payload.exp) * 1_000)
      return client
    } catch (error) {
      if (error instanceof JwksUnavailable) throw error
      return undefined
    }
  }

  return (token, mayCost = () => true) => {
    if (!compactJws.test(token)) return undefined
    return verified.get(token) ?? (mayCost() ? verifyWithinLimit(token) : undefined)
  }
}

/** RFC 6749 appendix A.1 allows printable ASCII, which is safe to log. This service sets the maximum length. */
const clientId = /^[\x20-\x7e]{1,200}$/

function clientOf({ client_id: name, sub, jti, scope, scp }: JWTPayload): Client | undefined {
  const areStrings = [name, sub, jti].every((claim) => typeof claim === 'string')
  if (!areStrings || !clientId.test(name as string)) return undefined
  return { name: name as string, scopes: scopesOf(scope ?? scp) }
}

/** RFC 9068 section 2.2.3 defines a string of scopes separated by spaces; some issuers send an array. */
function scopesOf(claim: unknown): string[] {
  const scopes = typeof claim === 'string' ? scopesIn(claim) : claim
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string' && scope !== '') : []
}
