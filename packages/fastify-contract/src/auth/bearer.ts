import bearerAuth from '@fastify/bearer-auth'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../http/request-context.ts'
import { isIssuer } from './oauth.ts'
import type { VerifyToken } from './tokens.ts'
import { challengeOf, scopeError, unauthenticated, type VerifierFactory, whilePaused } from './verifier.ts'

/** RFC 9110 section 11.1: the scheme in any case, then spaces and any credentials. */
const scheme = /^bearer +[^ ]/i

/** RFC 6750 section 2.1. bearer-auth would also trim characters that are not spaces in HTTP. */
const credentials = /^bearer +[\w.~+/-]+=*$/i

/** The parts of a request that bearer-auth reads, and the client of its token. */
type Attempt = Pick<FastifyRequest, 'raw' | 'log'> & { client?: Client }

/**
 * Verifies the tokens of a scheme with bearer tokens (http bearer, oauth2 or openIdConnect) by `verify`. A document may
 * have several of these schemes.
 */
export const bearer =
  (verify: VerifyToken): VerifierFactory =>
  async ({ app, realm, withinFailureLimit }) => {
    const challenge = challengeOf('Bearer', realm)
    // RFC 6750 section 3.1: the challenge for a missing token has no error code.
    const missing = () => unauthenticated('missingToken', 'an access token is required', challenge)
    // The same for an unknown, an expired and a revoked token.
    const invalid = () =>
      unauthenticated('invalidToken', 'the access token is not valid', `${challenge}, error="invalid_token"`)
    const options = {
      keys: new Set<string>(),
      addHook: false as const,
      // A rejected request is not an error of the service.
      verifyErrorLogLevel: 'debug',
    }
    if (!app.hasDecorator('verifyBearerAuthFactory')) await app.register(bearerAuth, options)
    const check = (app.verifyBearerAuthFactory as bearerAuth.verifyBearerAuthFactory)({
      ...options,
      auth(token, request) {
        const attempt = request as unknown as Attempt
        const accept = (client: Client | undefined) => {
          if (client !== undefined) attempt.client = client
          return client !== undefined
        }
        const client = verify(token, () => withinFailureLimit(attempt))
        return client instanceof Promise ? whilePaused(attempt, client).then(accept) : accept(client)
      },
      // Scheme names are case-insensitive (RFC 9110), but the option rfc6750 compares them exactly.
      specCompliance: 'rfc6749',
    })
    return (request, done, scopes) => {
      const given = request.headers.authorization ?? ''
      if (!credentials.test(given)) return done(scheme.test(given) ? invalid() : missing())
      const attempt: Attempt = { raw: request.raw, log: request.log }
      check(attempt as FastifyRequest, ignored, (error) => {
        const { client } = attempt
        if (error === undefined) done(scopeError(client, scopes, challenge), client)
        else done((error as { statusCode?: number }).statusCode === 401 ? invalid() : error)
      })
    }
  }

/**
 * A reply without effect: bearer-auth sets the status of its reply, but another scheme may still accept the request.
 */
const ignored = { code() {} } as unknown as FastifyReply

/** The path of the metadata after the URL of the issuer (OpenID Connect Discovery 1.0 section 4). */
const wellKnown = '/.well-known/openid-configuration'

/** An OpenID provider. */
export type OpenIdProvider = {
  /** The `openIdConnectUrl` of the scheme. */
  url: string
  /** The required audience: the `aud` claim of the tokens. */
  audience: string
  /** The `iss` claim of the tokens; default: the URL without the well-known path. */
  issuer?: string
}

/**
 * Verifies the JWT access tokens (RFC 9068) of an openIdConnect scheme, but accepts no ID tokens. Fetches the provider's
 * keys for the first token. Rejects when the URL is not the metadata URL of the issuer.
 */
export const openIdConnect =
  ({ url, audience, issuer = url.replace(wellKnown, '') }: OpenIdProvider): VerifierFactory =>
  async (context) => {
    if (!isIssuer(issuer) || issuer.replace(/\/$/, '') + wellKnown !== url) {
      throw new Error(
        `openIdConnectUrl ${JSON.stringify(url)} must be the https URL of the issuer followed by ${wellKnown}`,
      )
    }
    const { jwtVerifier } = await import('./jwt.ts')
    return await bearer(jwtVerifier({ issuer, audience, jwksUrl: undefined }))(context)
  }
