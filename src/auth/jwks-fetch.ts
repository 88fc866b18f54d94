import { isKeySource } from './issuer.ts'

export type KeySource = {
  issuer: string
  /** Where the issuer's keys are; without it the issuer's metadata tells. */
  jwksUrl: string | undefined
}

/** Gives the JSON of an issuer's key set (RFC 7517 section 5), unchecked. Rejects when it cannot be had. */
export async function fetchKeySet({ issuer, jwksUrl }: KeySource, signal: AbortSignal): Promise<unknown> {
  return await fetchJson(jwksUrl ?? (await discover(issuer, signal)), signal)
}

async function discover(issuer: string, signal: AbortSignal): Promise<string> {
  const reasons: unknown[] = []
  for (const url of metadataUrls(issuer)) {
    try {
      return keySetUrl(issuer, url, await fetchJson(url, signal))
    } catch (reason) {
      reasons.push(reason)
    }
  }
  throw new AggregateError(reasons, 'no metadata of the issuer can be used')
}

/** RFC 8414 section 3.1, and OpenID Connect Discovery 1.0 section 4.1. */
function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
}

/** RFC 8414 section 3.3: metadata that names another issuer must not be used. */
function keySetUrl(issuer: string, url: string, metadata: unknown): string {
  const { issuer: named, jwks_uri: keys } = (metadata ?? {}) as Record<string, unknown>
  if (named !== issuer) throw new Error(`${url} is not the metadata of ${issuer}`)
  if (typeof keys !== 'string' || !isKeySource(keys)) throw new Error(`the jwks_uri of ${url} is no https URL`)
  return keys
}

/** Bytes; a key set has a few thousand. */
const sizeLimit = 2 ** 18

async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const headers = { accept: 'application/json, application/jwk-set+json' }
  const response = await fetch(url, { headers, redirect: 'error', signal })
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    size += chunk.length
    if (size > sizeLimit) throw new Error(`${withoutQuery(url)} answers with more than ${sizeLimit} bytes`)
    chunks.push(chunk)
  }
  if (response.status !== 200) throw new Error(`${withoutQuery(url)} answers ${response.status}`)
  return JSON.parse(Buffer.concat(chunks).toString())
}

/** A query may hold what is nobody else's business. */
const withoutQuery = (url: string) => url.replace(/[?#].*$/s, '')
