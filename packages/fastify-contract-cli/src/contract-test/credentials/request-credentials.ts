import { randomBytes } from 'node:crypto'
import type { SecurityRequirement } from 'fastify-contract/contract'
import type { Document } from '../../document/openapi-document.ts'
import { conflictingSchemes, credentialOf, securityScheme, tokenVerifierOf } from '../../document/security-schemes.ts'
import type { Credentials, TestRequest } from '../exchange.ts'
import { sendableSchemes } from './environment-credentials.ts'
import type { GivenCredentials, SchemeCredentials } from './scheme-credentials.ts'

/** A text for each scheme of a requirement. */
type Texts = Record<string, string>

/**
 * Returns what adds credentials to the requests of a document. Rejected ones are made of those given: none, random ones
 * of the same form, a JSON Web Token with another signature, and ones without scopes. Throws an Error for a scheme that
 * the document does not have.
 */
export function requestCredentials(document: Document, given: GivenCredentials): Credentials {
  const known = sendableSchemes(document)
  for (const scheme of Object.keys(given))
    if (!known.includes(scheme))
      throw new Error(
        `credentials: no operation has the security scheme ${scheme}; expected ${known.join(', ') || 'none'}`,
      )
  const all = new Map<string, SchemeCredentials>()
  for (const [scheme, one] of Object.entries(given)) all.set(scheme, typeof one === 'string' ? { accepted: one } : one)

  /** Returns the first requirement whose schemes all have credentials that fit into one request. */
  const met = (security: SecurityRequirement[]): SecurityRequirement | undefined =>
    security.find(
      (requirement) =>
        Object.keys(requirement).length > 0 &&
        Object.keys(requirement).every((scheme) => all.has(scheme)) &&
        conflictingSchemes(document, requirement) === undefined,
    )

  const textsOf = (requirement: SecurityRequirement, text: (one: SchemeCredentials, scheme: string) => string): Texts =>
    Object.fromEntries(Object.keys(requirement).map((name) => [name, text(all.get(name) as SchemeCredentials, name)]))

  const isBasic = (scheme: string) => tokenVerifierOf(securityScheme(document, scheme)) === 'basic'

  function withTexts(request: TestRequest, texts: Texts): TestRequest {
    const headers = { ...request.headers }
    let { target } = request
    for (const [scheme, text] of Object.entries(texts)) {
      const {
        in: location,
        name,
        prefix,
      } = credentialOf(document, scheme) as NonNullable<ReturnType<typeof credentialOf>>
      const sent = prefix + (isBasic(scheme) ? Buffer.from(text).toString('base64') : text)
      const pair = `${encodeURIComponent(name)}=${encodeURIComponent(sent)}`
      if (location === 'header') headers[name.toLowerCase()] = sent
      else if (location === 'query') target += (target.includes('?') ? '&' : '?') + pair
      else headers.cookie = headers.cookie === undefined ? pair : `${headers.cookie}; ${pair}`
    }
    return { ...request, headers, target }
  }

  return {
    accepted(request) {
      const { security } = request.operation
      const requirement = met(security)
      if (requirement !== undefined)
        return withTexts(
          request,
          textsOf(requirement, ({ accepted }) => accepted),
        )
      return security.length === 0 || isOptional(security) ? request : undefined
    },
    rejected(request) {
      const { security } = request.operation
      const requirement = met(security)
      // With optional authentication, servers differ in what wrong credentials mean.
      if (requirement === undefined || isOptional(security)) return []
      const wrong = textsOf(requirement, ({ accepted }, scheme) => randomLike(accepted, isBasic(scheme)))
      const found: ReturnType<Credentials['rejected']> = [
        { request, status: 401, reason: 'without credentials' },
        { request: withTexts(request, wrong), status: 401, reason: 'with wrong credentials' },
      ]
      const accepted = textsOf(requirement, ({ accepted }) => accepted)
      if (Object.values(accepted).some(isJwt)) {
        const texts = Object.entries(accepted).map(([scheme, text]) => [scheme, isJwt(text) ? forged(text) : text])
        const reason = 'with a token whose signature is wrong'
        found.push({ request: withTexts(request, Object.fromEntries(texts)), status: 401, reason })
      }
      const narrow = narrowTexts(security)
      if (narrow !== undefined)
        found.push({ request: withTexts(request, narrow), status: 403, reason: 'with credentials without a scope' })
      return found
    },
  }

  /** Returns credentials without scopes; undefined if a requirement needs none, or if there are no such credentials. */
  function narrowTexts(security: SecurityRequirement[]): Texts | undefined {
    const hasNarrow = ([scheme, scopes]: [string, string[]]) =>
      scopes.length === 0 || all.get(scheme)?.narrow !== undefined
    const requirement = met(security.filter((each) => Object.entries(each).every(hasNarrow)))
    const needsScope = (each: SecurityRequirement) => Object.values(each).some(({ length }) => length > 0)
    if (requirement === undefined || !security.every(needsScope)) return undefined
    return textsOf(requirement, ({ accepted, narrow }, scheme) =>
      requirement[scheme]?.length === 0 ? accepted : (narrow as string),
    )
  }
}

const isOptional = (security: SecurityRequirement[]): boolean =>
  security.some((requirement) => Object.keys(requirement).length === 0)

/** Returns random credentials of 256 bits; for HTTP Basic, the password of the same user. */
const randomLike = (accepted: string, isBasic: boolean): string =>
  (isBasic ? accepted.replace(/:.*$/s, ':') : '') + randomBytes(32).toString('hex')

/** RFC 7515 section 7.1: three parts in base64url. */
const isJwt = (text: string): boolean => /^eyJ[\w-]+\.[\w-]+\.[\w-]{8,}$/.test(text)

/** Returns a token with another signature of the same length. The last character may have unused bits. */
function forged(token: string): string {
  const at = token.lastIndexOf('.') + 1
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
}
