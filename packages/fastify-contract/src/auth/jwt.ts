import { hash } from 'node:crypto'
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import { readWebStream } from '../http/read-web-stream.ts'
import type { Client } from '../http/request-context.ts'
import { reportVerifier, testKeyOf } from './test-trust.ts'
import { type BoundTokens, digestLookup, isKeySource, scopesIn, type VerifyToken } from './tokens.ts'

export type JwtOptions = KeySource & {
  audience: string
  times?: KeyTimes
  /** Default: `reject`. */
  boundTokens?: BoundTokens
}

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
 * client is `client_id`, its subject is `sub`, and its scopes are those of `scope`, or else of `scp`. The verifier
 * returns undefined for text that is not a JWT, and for a token that is bound to a key, unless `boundTokens` is `accept`.
 * It rejects with
 * `JwksUnavailable` while the issuer's keys cannot be fetched. Above 1,000 concurrent verifications it rejects with
 * another error that has `retryAfter`. Nothing is fetched before the first token.
 */
export function jwtVerifier({ issuer, audience, jwksUrl, times, boundTokens = 'reject' }: JwtOptions): VerifyToken {
  const keys = cachedJwks({ issuer, jwksUrl }, times)
  const getKey: JWTVerifyGetKey = (header, token) => testKeyOf(header.kid) ?? keys(header, token)
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
    reportVerifier({ issuer, audience })
    try {
      const { payload, protectedHeader } = await jwtVerify(token, getKey, options)
      const isUsable = payload.cnf === undefined || boundTokens === 'accept'
      const client = isUsable ? clientOf(payload) : undefined
      // The cache would accept a token of a test after the test.
      const isCached = client !== undefined && testKeyOf(protectedHeader.kid) === undefined
      if (isCached) verified.add(token, client, Number(payload.exp) * 1_000)
      return client
    } catch (error) {
      if (error instanceof JwksUnavailable) throw error
      return undefined
    }
  }

  return function verifyJwt(token, withinFailureLimit = () => true) {
    if (!compactJws.test(token)) return undefined
    return verified.get(token) ?? (withinFailureLimit() ? verifyWithinLimit(token) : undefined)
  }
}

/** RFC 6749 appendix A.1 allows printable ASCII, which is safe to log. This service sets the maximum length. */
const clientId = /^[\x20-\x7e]{1,200}$/

function clientOf({ client_id: name, sub, jti, scope, scp }: JWTPayload): Client | undefined {
  const areStrings = [name, sub, jti].every((claim) => typeof claim === 'string')
  if (!areStrings || !clientId.test(name as string)) return undefined
  return { name: name as string, scopes: scopesOf(scope ?? scp), subject: sub as string }
}

/** RFC 9068 section 2.2.3 defines a string of scopes separated by spaces; some issuers send an array. */
function scopesOf(claim: unknown): string[] {
  const scopes = typeof claim === 'string' ? scopesIn(claim) : claim
  return Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string' && scope !== '') : []
}

type Options = {
  /** The lifetime of an entry in milliseconds. */
  maxAge?: number
  /** The maximum number of tokens. */
  size?: number
  /** Returns monotonic milliseconds. */
  now?(): number
  /** Returns milliseconds since 1970. */
  wallClock?(): number
}

export type JwtCache = {
  /** Returns the client of a token that was verified within `maxAge`, or undefined. */
  get(token: string): Client | undefined
  /** Adds a verified token, which expires at `expires`, in milliseconds since 1970. */
  add(token: string, client: Client, expires: number): void
}

/**
 * Creates a cache of verified tokens, since verifying a signature takes far longer than a digest. It holds only
 * digests, and evicts the oldest. Only valid tokens are added, so that a client without one cannot evict others.
 */
export function createJwtCache({
  maxAge = 60_000,
  size = 10_000,
  now = () => performance.now(),
  wallClock = () => Date.now(),
}: Options = {}): JwtCache {
  const verified = new Map<string, { client: Client; until: number; expires: number }>()
  return {
    get: digestLookup(function clientOfDigest(digest) {
      const found = verified.get(digest)
      return found !== undefined && now() < found.until && wallClock() < found.expires ? found.client : undefined
    }),
    add(token, client, expires) {
      const digest = hash('sha256', token)
      // A key that is deleted and set again becomes the newest of the map.
      verified.delete(digest)
      verified.set(digest, { client, until: now() + maxAge, expires })
      if (verified.size > size) verified.delete(verified.keys().next().value as string)
    },
  }
}

export type KeySource = {
  issuer: string
  /** The URL of the key set; by default it comes from the metadata of the issuer. */
  jwksUrl: string | undefined
}

export type KeyTimes = {
  /** The timeout of a fetch in milliseconds, discovery included. */
  timeout?: number
  /** Returns monotonic milliseconds. */
  now?(): number
}

/** Reports that no key is available, so a token can be neither accepted nor rejected. `retryAfter` is in seconds. */
export class JwksUnavailable extends Error {
  override readonly name = 'JwksUnavailable'
  readonly retryAfter: number

  constructor(retryAfter: number, cause: unknown) {
    super('the keys of the issuer cannot be fetched', { cause })
    this.retryAfter = retryAfter
  }
}

/** Milliseconds after which the key set is fetched again before it is used. */
const maxAge = 300_000

/** Milliseconds after which the key set is no longer used, even while the issuer is unreachable. */
const maxStale = 3_600_000

/**
 * Milliseconds for which nothing is fetched again: after a failure, not at all; after a success, not for an unknown key.
 */
const cooldown = 10_000

/** The maximum size of a response in bytes; a key set has a few thousand. */
const sizeLimit = 2 ** 18

/**
 * Returns a function that looks up the issuer's key for the header of a token. Keys and URLs in the header are ignored.
 * The function rejects with `JwksUnavailable` while it needs a newer key set and cannot fetch one.
 */
export function cachedJwks(
  source: KeySource,
  { timeout = 5_000, now = () => performance.now() }: KeyTimes = {},
): JWTVerifyGetKey {
  let fetchedAt = Number.NEGATIVE_INFINITY
  let failure: { cause: unknown; at: number } | undefined

  async function fetchKeys(signal: AbortSignal): Promise<Response> {
    const start = now()
    const wait = (failure?.at ?? fetchedAt) + cooldown - start
    if (wait > 0 && failure) throw new JwksUnavailable(wait / 1_000, failure.cause)
    // Not `JwksUnavailable`: a key that is missing from a set this new does not exist, so its token is rejected.
    if (wait > 0) throw new Error('the key set was fetched a moment ago')
    try {
      const keySet = await fetchJson(source.jwksUrl ?? (await discover(source.issuer, signal)), signal)
      // createRemoteJWKSet rejects a malformed response too, but only after the fetch has counted as a success.
      createLocalJWKSet(keySet as JSONWebKeySet)
      const response = Response.json(keySet)
      fetchedAt = start
      failure = undefined
      return response
    } catch (cause) {
      failure = { cause, at: now() }
      throw new JwksUnavailable(cooldown / 1_000, cause)
    }
  }

  const keys = createRemoteJWKSet(new URL(source.jwksUrl ?? source.issuer), {
    timeoutDuration: timeout,
    // jose measures both with the wall clock, and rejects an expired set while the issuer is unreachable.
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: Number.POSITIVE_INFINITY,
    [customFetch]: (_, { signal }) => fetchKeys(signal),
  })

  return async function currentKey(header, token) {
    const age = now() - fetchedAt
    if (age >= maxStale) await keys.reload()
    else if (age >= maxAge) {
      const reloaded = keys.reload().catch(() => {})
      // After a failure the issuer may hang, so look-ups use the current keys while the fetch is in flight.
      if (failure === undefined) await reloaded
    }
    return await keys(header, token).catch(async function reloadAndRetry() {
      // The key may be new. jose's own retry would depend on the wall clock.
      await keys.reload()
      return await keys(header, token)
    })
  }
}

/** Returns the URL of the key set from RFC 8414 metadata, or else from OpenID Connect Discovery 1.0 metadata. */
async function discover(issuer: string, signal: AbortSignal): Promise<string> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const oauth = `${origin}/.well-known/oauth-authorization-server${path}`
  const openid = `${origin}${path}/.well-known/openid-configuration`
  const reasons: unknown[] = []
  for (const url of [oauth, openid]) {
    try {
      const { issuer: named, jwks_uri: keys } = Object(await fetchJson(url, signal))
      // RFC 8414 section 3.3 forbids the use of metadata that names another issuer.
      if (named !== issuer) throw new Error(`${url} is not the metadata of ${issuer}`)
      if (typeof keys === 'string' && isKeySource(keys)) return keys
      throw new Error(`the jwks_uri of ${url} is not an https URL`)
    } catch (reason) {
      reasons.push(reason)
    }
  }
  throw new AggregateError(reasons, 'the metadata of the issuer cannot be used')
}

async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const headers = { accept: 'application/json, application/jwk-set+json' }
  const response = await fetch(url, { headers, redirect: 'error', signal })
  // The query may hold a secret, and the message is logged.
  const name = url.replace(/[?#].*$/s, '')
  const tooLarge = () => new Error(`the response of ${name} has more than ${sizeLimit} bytes`)
  const bytes = await readWebStream(response.body, sizeLimit, tooLarge)
  if (response.status !== 200) throw new Error(`${name} responds with status ${response.status}`)
  return JSON.parse(bytes.toString())
}
