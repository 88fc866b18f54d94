import { type Document, endpoints, locate, schemePlace } from './openapi-document.ts'

type SecurityScheme = {
  type: string
  scheme?: string
  in?: Credential['in']
  name?: string
  flows?: unknown
}

/** Where a credential stands in a request, and what stands before it there. */
export type Credential = { in: 'header' | 'query' | 'cookie'; name: string; prefix: string }

/** Returns a security scheme of a document, by its name. */
export const securityScheme = (document: Document, name: string): SecurityScheme =>
  locate<SecurityScheme>(document, schemePlace(name))

/** Returns the headers that carry API keys of the operations of a document, each once. */
export function apiKeyHeaders(document: Document): string[] {
  const names = endpoints(document).flatMap(({ security }) => security.flatMap((one) => Object.keys(one)))
  const schemes = [...new Set(names)].map((name) => securityScheme(document, name))
  return schemes.flatMap(({ type, in: place, name = '' }) => (type === 'apiKey' && place === 'header' ? [name] : []))
}

/** Returns where the credential of a security scheme goes (OpenAPI 3.1 section 4.8.27). */
export function credentialOf(document: Document, scheme: string): Credential {
  const found = securityScheme(document, scheme)
  if (found.type === 'apiKey') return { in: found.in ?? 'header', name: String(found.name), prefix: '' }
  const isBasic = found.scheme?.toLowerCase() === 'basic'
  return { in: 'header', name: 'Authorization', prefix: isBasic ? 'Basic ' : 'Bearer ' }
}
