import { createLocalJWKSet, createRemoteJWKSet, customFetch, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { isKeySource } from './issuer.ts'

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

/** Milliseconds after a fetch without another one: after a failure for any key, after a success for an unknown key. */
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

  return async (header, token) => {
    const age = now() - fetchedAt
    if (age >= maxStale) await keys.reload()
    else if (age >= maxAge) {
      const reloaded = keys.reload().catch(() => {})
      // After a failure the issuer may hang, so look-ups use the current keys while the fetch is in flight.
      if (failure === undefined) await reloaded
    }
    return await keys(header, token).catch(async () => {
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
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    size += chunk.length
    if (size > sizeLimit) throw new Error(`the response of ${name} has more than ${sizeLimit} bytes`)
    chunks.push(chunk)
  }
  if (response.status !== 200) throw new Error(`${name} responds with status ${response.status}`)
  return JSON.parse(Buffer.concat(chunks).toString())
}
