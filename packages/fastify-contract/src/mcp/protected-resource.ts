import type { McpTable } from './tool-table.ts'

/** The path below which the metadata of a protected resource is (RFC 9728 section 3.1). */
const wellKnown = '/.well-known/oauth-protected-resource'

export type ResourceOptions = {
  /**
   * The URL of the endpoint as clients know it; default: the path of the endpoint at the first server of the document, if
   * that is absolute. It is never taken from a request, whose `Host` a client chooses.
   */
  resource?: string
  /** The issuers of the tokens (RFC 8414); default: those that the document names. */
  authorizationServers?: string[]
}

/** The metadata of the endpoint as a protected resource. */
export type ProtectedResource = {
  /** The URL of the metadata. */
  metadataUrl: string
  /**
   * The paths of the metadata: by RFC 9728, and without the path of the endpoint, where some clients look first. Below a
   * prefix, only the first, since each prefix may have an endpoint.
   */
  paths: string[]
  /** The metadata (RFC 9728 section 2). */
  metadata: object
}

/**
 * Returns the metadata of the endpoint; undefined if no tool accepts tokens of OAuth 2 or OpenID Connect, or if neither
 * the options nor the document say who issues them, or where the endpoint is.
 */
export function protectedResource(
  { authorization, info }: McpTable,
  { prefix, path }: { prefix: string; path: string },
  options: ResourceOptions,
): ProtectedResource | undefined {
  if (authorization === undefined) return undefined
  const { origin, issuers, scopes } = authorization
  const { resource = origin && origin + prefix + path, authorizationServers = issuers } = options
  if (resource === undefined || authorizationServers.length === 0) return undefined
  const { href } = checkedUrl('resource', resource)
  for (const issuer of authorizationServers) checkedUrl('authorizationServers', issuer)
  const metadataUrl = new URL(href)
  metadataUrl.pathname = wellKnown + metadataUrl.pathname.replace(/\/$/, '')
  return {
    metadataUrl: metadataUrl.href,
    paths: prefix === '' ? [...new Set([metadataUrl.pathname, wellKnown])] : [metadataUrl.pathname],
    metadata: {
      resource,
      authorization_servers: authorizationServers,
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
      resource_name: info.name,
    },
  }
}

function checkedUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || /[?#]/.test(text))
    throw new Error(`mcpServer: ${option} ${JSON.stringify(text)} must be an https URL without a query or a fragment`)
  return url
}

/**
 * Returns a challenge that names the metadata (RFC 9728 section 5.1) and the scopes (RFC 6750 section 3), so that a client
 * knows where to get a token, and for what.
 */
export function challengeWith({ metadataUrl }: ProtectedResource, scopes: string[], challenge: string): string {
  const scope = scopes.length === 0 || challenge.includes('scope="') ? '' : `, scope="${scopes.join(' ')}"`
  return challenge.replace(/(^|, )Bearer /, (bearer) => `${bearer}resource_metadata="${metadataUrl}"${scope}, `)
}
