import { createHash } from 'node:crypto'
import type { SecurityRequirement } from 'fastify-contract/contract'
import type { Document } from '../../document/openapi-document.ts'
import {
  type Credential,
  conflictingSchemes,
  credentialOf,
  securityScheme,
  tokenVerifierOf,
} from '../../document/security-schemes.ts'
import type { Credentials, TestRequest } from '../exchange.ts'
import { defaultSeed } from '../results.ts'
import { sendableSchemes } from './environment-credentials.ts'
import { missingCredentials } from './missing-credentials.ts'
import type { GivenCredentials, SchemeCredentials } from './scheme-credentials.ts'
import { wrongTokens } from './wrong-tokens.ts'

/** A text for each scheme of a requirement. */
type Texts = Record<string, string>

type RejectedRequest = ReturnType<Credentials['rejected']>[number]

/**
 * Returns what adds credentials to the requests of a document. Rejected ones are made of those given: none, wrong ones of
 * the same form, which depend on the seed and the operation only, changed JSON Web Tokens, ones without scopes, and, for
 * the first operation of a scheme, those that are given as rejected. If a requirement has several schemes, each of them is
 * wrong once. Throws an Error for a scheme that the document does not have.
 */
export function requestCredentials(document: Document, given: GivenCredentials, seed = defaultSeed): Credentials {
  const known = sendableSchemes(document)
  for (const scheme of Object.keys(given))
    if (!known.includes(scheme))
      throw new Error(
        `credentials: no operation has the security scheme ${scheme}; expected ${known.join(', ') || 'none'}`,
      )
  const all = new Map<string, SchemeCredentials>()
  const sentOnce = new Set<string>()
  for (const [scheme, one] of Object.entries(given)) all.set(scheme, typeof one === 'string' ? { accepted: one } : one)

  /** Returns the requirements whose schemes all have credentials that fit into one request. */
  const allMet = (security: SecurityRequirement[]): SecurityRequirement[] =>
    security.filter(
      (requirement) =>
        Object.keys(requirement).length > 0 &&
        Object.keys(requirement).every((scheme) => all.has(scheme)) &&
        conflictingSchemes(document, requirement) === undefined,
    )

  const met = (security: SecurityRequirement[]): SecurityRequirement | undefined => allMet(security)[0]

  const placeOf = (scheme: string) => credentialOf(document, scheme) as Credential

  const textsOf = (requirement: SecurityRequirement, text: (one: SchemeCredentials, scheme: string) => string): Texts =>
    Object.fromEntries(Object.keys(requirement).map((name) => [name, text(all.get(name) as SchemeCredentials, name)]))

  const isBasic = (scheme: string) => tokenVerifierOf(securityScheme(document, scheme)) === 'basic'

  function withTexts(request: TestRequest, texts: Texts): TestRequest {
    const headers = { ...request.headers }
    let { target } = request
    for (const [scheme, text] of Object.entries(texts)) {
      const { in: location, name, prefix } = placeOf(scheme)
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
      const requirements = allMet(security)
      // With optional authentication, servers differ in what wrong credentials mean.
      if (requirements.length === 0 || isOptional(security)) return []
      const found: RejectedRequest[] = [{ request, status: 401, reason: 'without credentials' }]
      for (const requirement of requirements) {
        const wrong = textsOf(requirement, ({ accepted }, scheme) => wrongText(request, scheme, accepted))
        found.push({ request: withTexts(request, wrong), status: 401, reason: 'with wrong credentials' })
        for (const scheme of Object.keys(requirement))
          if (decides(scheme, requirement, security)) found.push(...wrongOnes(request, requirement, scheme))
      }
      const narrow = narrowTexts(security)
      if (narrow !== undefined)
        found.push({ request: withTexts(request, narrow), status: 403, reason: 'with credentials without a scope' })
      return found
    },
    missing: (security) => missingCredentials(document, security, (scheme) => all.has(scheme)),
  }

  /** Returns credentials of 256 bits that no server has; for HTTP Basic, as the password of the same user. */
  function wrongText({ operation }: TestRequest, scheme: string, accepted: string): string {
    const digest = createHash('sha256')
      .update(JSON.stringify([seed, operation.operationId, scheme]))
      .digest('hex')
    return (isBasic(scheme) ? accepted.replace(/:.*$/s, ':') : '') + digest
  }

  /** Returns whether wrong credentials of a scheme make those of a requirement wrong for a list of requirements. */
  function decides(scheme: string, requirement: SecurityRequirement, security: SecurityRequirement[]): boolean {
    const others = Object.keys(requirement).filter((name) => name !== scheme)
    const { in: location, name } = placeOf(scheme)
    // The credentials of two schemes may be one header.
    const isShared = others.map(placeOf).some((one) => one.in === location && one.name === name)
    return !isShared && !security.some((each) => Object.keys(each).every((one) => others.includes(one)))
  }

  /** Returns requests with credentials of one scheme that are wrong, and accepted ones of the other schemes. */
  function wrongOnes(request: TestRequest, requirement: SecurityRequirement, scheme: string): RejectedRequest[] {
    const texts = textsOf(requirement, ({ accepted }) => accepted)
    const { accepted, rejected = {} } = all.get(scheme) as SchemeCredentials
    const found: RejectedRequest[] = []
    const add = (changed: Texts, reason: string) =>
      found.push({ request: withTexts(request, changed), status: 401, reason })
    if (Object.keys(texts).length > 1) {
      const { [scheme]: _, ...others } = texts
      add(others, `without credentials of ${scheme}`)
      add({ ...texts, [scheme]: wrongText(request, scheme, accepted) }, `with wrong credentials of ${scheme}`)
    }
    const [user = '', token = ''] = isBasic(scheme) ? accepted.split(/(?<=^[^:]*:)(.*)/s) : ['', accepted]
    for (const [what, text] of Object.entries(wrongTokens(token)))
      add({ ...texts, [scheme]: user + text }, `with ${what}`)
    for (const [what, text] of Object.entries(rejected)) {
      // Each takes a request, and one verifier serves all operations of a scheme.
      const sent = `${scheme} ${what}`
      if (!sentOnce.has(sent)) add({ ...texts, [scheme]: text }, `with ${what}`)
      sentOnce.add(sent)
    }
    return found
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
