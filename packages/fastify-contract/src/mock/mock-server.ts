import { type ApiKeyLocation, apiKey } from '../auth/api-key.ts'
import { basic } from '../auth/basic.ts'
import { bearer } from '../auth/bearer.ts'
import type { VerifierFactory } from '../auth/verifier.ts'
import {
  type Document,
  type Endpoint,
  endpoints,
  type Located,
  type Response,
} from '../compile/document/openapi-document.ts'
import { scopesOf, securityScheme } from '../compile/document/security.ts'
import { exampleBody, exampleHeaders, exampleResponse, hasExample } from '../compile/emit/examples.ts'
import type { Outcome } from '../serve/send-response.ts'

/** The response that a request prefers; `applied` is the value of the header Preference-Applied. */
export type PreferredResponse = { outcome: Outcome; applied: string }

/** Matches a preference with a value (RFC 7240 section 2), without its parameters. */
const preference = /(?:^|,)[ \t]*([\w-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]+))/g

/**
 * Returns the response of an operation that a request prefers with `code=STATUS` and `example=NAME`, in the media type
 * `accept` or its first one. Returns undefined if there is none: RFC 7240 says that such a preference is ignored.
 */
export function preferredResponse(
  document: Document,
  endpoint: Endpoint,
  prefer: string,
  accept?: string,
): PreferredResponse | undefined {
  const given = Array.from(prefer.matchAll(preference), ([, name = '', quoted, token = '']) => [
    name.toLowerCase(),
    quoted?.replace(/\\(.)/g, '$1') ?? token,
  ])
  // If a preference occurs more than once, the first one counts (RFC 7240 section 2).
  const { code = '', example = '' } = Object.fromEntries(given.reverse())
  const coded = /^[2-5]\d\d$/.test(code) ? responseOf(endpoint, code) : undefined
  const usual = exampleResponse(document, endpoint)
  const status = coded === undefined ? usual.status : Number(code)
  const response = coded ?? responseOf(endpoint, String(status))
  const isNamed = response !== undefined && hasExample(response, example)
  const applied = [...(coded === undefined ? [] : [`code=${code}`]), ...(isNamed ? [`example=${example}`] : [])]
  if (response === undefined || applied.length === 0) return undefined
  const body = exampleBody(document, response, { name: example, accept })
  return { outcome: { status, ...exampleHeaders(document, response), ...body }, applied: applied.join(', ') }
}

/** Returns the response for a status: its own, that of its range, or the default one. */
const responseOf = ({ responses }: Endpoint, code: string): Located<Response> | undefined =>
  responses[code] ?? responses[`${code[0]}XX`] ?? responses.default

/**
 * Returns the verifiers of the security schemes that the operations of a document require. They accept any well-formed
 * credentials and grant every scope. Schemes that the service has no verifier for need no credentials.
 */
export function anyCredentials(document: Document): Record<string, VerifierFactory> {
  const anybody = { name: 'anybody', scopes: scopesOf(document) }
  const verify = () => anybody
  const verifierOf = (name: string): VerifierFactory => {
    const { type, scheme = '', ...location } = securityScheme(document, name)
    const kind = type === 'http' ? scheme.toLowerCase() : type
    if (kind === 'apiKey') return apiKey(location as ApiKeyLocation, verify)
    if (kind === 'basic') return basic(verify)
    if (['bearer', 'oauth2', 'openIdConnect'].includes(kind)) return bearer(verify)
    return () => (_request, done) => done(undefined, anybody)
  }
  const names = endpoints(document).flatMap(({ security }) => security.flatMap(Object.keys))
  return Object.fromEntries(names.map((name) => [name, verifierOf(name)]))
}
