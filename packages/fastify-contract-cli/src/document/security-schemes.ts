import type { SecurityRequirement } from 'fastify-contract/contract'
import { join } from './json-pointer.ts'
import { type Document, endpoints, locate, schemePointer, securityPointer } from './openapi-document.ts'

type SecurityScheme = {
  type: string
  scheme?: string
  in?: Credential['in']
  name?: string
  flows?: unknown
  openIdConnectUrl?: string
  oauth2MetadataUrl?: string
}

/** The location of a credential in a request, and the text before it, such as "Bearer ". */
export type Credential = { in: 'header' | 'query' | 'cookie'; name: string; prefix: string }

/** Returns a security scheme of a document, by its name. */
export const securityScheme = (document: Document, name: string): SecurityScheme =>
  locate<SecurityScheme>(document, schemePointer(name))

/** Returns the names of the headers that carry API keys for the operations of a document, each once. */
export function apiKeyHeaders(document: Document): string[] {
  const names = endpoints(document).flatMap(({ security }) => security.flatMap(Object.keys))
  const schemes = names.map((name) => securityScheme(document, name))
  const headers = schemes.flatMap(({ type, in: location, name = '' }) =>
    type === 'apiKey' && location === 'header' ? [name] : [],
  )
  return [...new Set(headers)]
}

/**
 * Returns the verifier of `fastify-contract` that takes the credential of a security scheme as a token; undefined if there
 * is none, as for the schemes of RFC 7616 (Digest) and for mutualTLS.
 */
export function tokenVerifierOf({ type, scheme = '' }: SecurityScheme): 'apiKey' | 'basic' | 'bearer' | undefined {
  const kind = isTokenScheme({ type }) ? 'bearer' : type === 'http' ? scheme.toLowerCase() : type
  return kind === 'apiKey' || kind === 'basic' || kind === 'bearer' ? kind : undefined
}

/**
 * Returns the first security requirement of an operation that a request with a token meets, or else the first one that a
 * request can meet, or else the first one.
 */
export function shownRequirement(document: Document, security: SecurityRequirement[]): SecurityRequirement {
  const possible = security.find((each) => conflictingSchemes(document, each) === undefined)
  return security.find((each) => takesToken(document, each)) ?? possible ?? security[0] ?? {}
}

/** Returns whether a request with a token as each credential meets a security requirement. */
export const takesToken = (document: Document, requirement: SecurityRequirement): boolean =>
  conflictingSchemes(document, requirement) === undefined &&
  Object.keys(requirement).every((name) => tokenVerifierOf(securityScheme(document, name)) !== undefined)

/** Types whose credential is a bearer token. */
const tokenTypes = ['oauth2', 'openIdConnect']

/**
 * Returns the location of the credential of a security scheme in requests (OpenAPI 3.1 section 4.8.27), or undefined if
 * requests carry none, as with mutualTLS.
 */
export function credentialOf(document: Document, name: string): Credential | undefined {
  const { type, scheme, in: location = 'header', name: key = '' } = securityScheme(document, name)
  if (type === 'apiKey') return { in: location, name: key, prefix: '' }
  const authScheme = isTokenScheme({ type }) ? 'bearer' : type === 'http' ? scheme : undefined
  if (authScheme === undefined) return undefined
  const [first = '', ...more] = authScheme.toLowerCase()
  return { in: 'header', name: 'Authorization', prefix: `${first.toUpperCase()}${more.join('')} ` }
}

/**
 * Returns two schemes of a requirement whose credentials need different texts in the same header, so that no request can
 * have both; undefined if there are none.
 */
export function conflictingSchemes(document: Document, requirement: object): [string, string] | undefined {
  const inHeaders = new Map<string, { scheme: string; prefix: string }>()
  for (const scheme of Object.keys(requirement)) {
    const credential = credentialOf(document, scheme)
    if (credential?.in !== 'header') continue
    const { prefix } = credential
    const name = credential.name.toLowerCase()
    const other = inHeaders.get(name)
    if (other !== undefined && other.prefix !== prefix) return [other.scheme, scheme]
    inHeaders.set(name, { scheme, prefix })
  }
  return undefined
}

/** Returns whether a scheme takes tokens of OAuth 2 or OpenID Connect. */
export const isTokenScheme = ({ type }: Pick<SecurityScheme, 'type'>): boolean => tokenTypes.includes(type)

/** The paths of the metadata of an issuer: OpenID Connect Discovery 1.0 section 4, and RFC 8414 section 3. */
const openIdPath = '/.well-known/openid-configuration'
const oauthPath = '/.well-known/oauth-authorization-server'

/**
 * Returns the issuer of the tokens of a scheme, if the URL of its metadata tells it. The URLs of its flows do not: they
 * may be anywhere.
 */
export function issuerOf({ openIdConnectUrl = '', oauth2MetadataUrl = '' }: SecurityScheme): string | undefined {
  if (openIdConnectUrl.endsWith(openIdPath)) return openIdConnectUrl.slice(0, -openIdPath.length)
  if (!URL.canParse(oauth2MetadataUrl)) return undefined
  const { origin, pathname } = new URL(oauth2MetadataUrl)
  return pathname.startsWith(oauthPath) ? origin + pathname.slice(oauthPath.length) : undefined
}

/** One scope that an operation requires, with its security scheme and the pointer to the array that names it. */
type NeededScope = { pointer: string; scheme: string; scope: string }

/**
 * Returns each scope that a document requires, in document order. A requirement that operations inherit occurs once.
 */
export function neededScopes(document: Document): NeededScope[] {
  const needed = new Map<string, NeededScope>()
  for (const endpoint of endpoints(document)) {
    const holder = securityPointer(document, endpoint)
    for (const [index, requirement] of endpoint.security.entries()) {
      for (const [scheme, scopes] of Object.entries(requirement)) {
        const pointer = join(holder, String(index), scheme)
        for (const scope of scopes) needed.set(`${pointer} ${scope}`, { pointer, scheme, scope })
      }
    }
  }
  return [...needed.values()]
}

/** Returns the scopes that a document requires, each once. */
export const scopesOf = (document: Document): string[] => [...new Set(neededScopes(document).map(({ scope }) => scope))]
