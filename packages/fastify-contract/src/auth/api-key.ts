import type { FastifyRequest } from 'fastify'
import { decodeText, parseCookies } from '../http/request-head.ts'
import type { VerifyToken } from './tokens.ts'
import { credentialVerifier, maxCredentialsLength, type VerifierFactory } from './verifier.ts'

/** The location and name of an API key in a security scheme (OpenAPI 3.1 section 4.8.27). */
export type ApiKeyLocation = { in: 'header' | 'query' | 'cookie'; name: string }

/**
 * Verifies the keys of an apiKey scheme by `verify`. A key that is sent twice, or has more than 4,096 characters, is not
 * valid. The scheme name ApiKey is not registered, but RFC 9110 section 15.5.2 requires a challenge in every 401.
 */
export const apiKey = (location: ApiKeyLocation, verify: VerifyToken): VerifierFactory =>
  credentialVerifier({
    challenge: ['ApiKey'],
    missing: 'an API key is required',
    invalid: 'the API key is not valid',
    read: (request) => keyOf(valuesAt(location, request), location.in === 'query' ? decodeText : String),
    verify,
  })

function valuesAt({ in: location, name }: ApiKeyLocation, { headers, query }: FastifyRequest): string[] {
  if (location === 'header') return ownValues(headers, name.toLowerCase())
  return ownValues(location === 'query' ? (query as object) : parseCookies(headers.cookie), name)
}

/** Returns the values of an own property only: a name such as `toString` is also that of an inherited property. */
const ownValues = (values: object, name: string): string[] =>
  Object.hasOwn(values, name) ? [(values as Record<string, string | string[]>)[name] as string | string[]].flat() : []

/** Returns the key, undefined when there is none, or null when there are several or the key cannot be decoded. */
function keyOf([key = '', ...more]: string[], decode: (text: string) => string): string | undefined | null {
  if (key === '' && more.length === 0) return undefined
  if (more.length > 0 || key.length > maxCredentialsLength) return null
  try {
    return decode(key)
  } catch {
    return null
  }
}
