import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../http/request-context.ts'
import type { Verifier } from '../serve/security.ts'
import { alwaysAllowed, type MayCost } from './auth-limits.ts'
import { isIssuer, scopeError } from './oauth.ts'
import type { VerifyToken } from './tokens.ts'
import { challengeOf, invalidCredentials, missingCredentials, whilePaused } from './verifier.ts'

const challenge = challengeOf('Bearer')

/** RFC 9110 section 11.1: the scheme in any case, then spaces and any credentials. */
const scheme = /^bearer +[^ ]/i

/** RFC 6750 section 2.1. bearer-auth would also trim characters that are not spaces in HTTP. */
const credentials = /^bearer +[\w.~+/-]+=*$/i

/** The parts of a request that bearer-auth reads, and the client of its token. */
type Attempt = Pick<FastifyRequest, 'raw' | 'log'> & { client?: Client }

/**
 * Creates the verifier of a scheme with bearer tokens: http bearer, oauth2 or openIdConnect. It calls `verify` with
 * each token. An app may have several of these verifiers.
 */
export async function bearerVerifier(
  app: FastifyInstance,
  verify: VerifyToken,
  mayCost: MayCost = alwaysAllowed,
): Promise<Verifier> {
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
      const client = verify(token, () => mayCost(attempt))
      return client instanceof Promise ? whilePaused(attempt.raw.socket, client).then(accept) : accept(client)
    },
    // Scheme names are case-insensitive (RFC 9110), but the option rfc6750 compares them exactly.
    specCompliance: 'rfc6749',
  })
  return (request, done, scopes) => {
    const given = request.headers.authorization ?? ''
    if (!credentials.test(given)) return done(scheme.test(given) ? invalidToken() : missingToken())
    const attempt: Attempt = { raw: request.raw, log: request.log }
    check(attempt as FastifyRequest, ignored, (error) => {
      const { client } = attempt
      if (error === undefined) done(scopeError(client, scopes, challenge), client)
      else done((error as { statusCode?: number }).statusCode === 401 ? invalidToken() : error)
    })
  }
}

/**
 * A reply without effect: bearer-auth sets the status of its reply, but another scheme may still accept the request.
 */
const ignored = { code() {} } as unknown as FastifyReply

/** RFC 6750 section 3.1: the challenge for a missing token has no error code. */
const missingToken = () => missingCredentials('an access token is required', challenge)

/** Returns the same error for an unknown, an expired and a revoked token. */
const invalidToken = () => invalidCredentials('the access token is not valid', `${challenge}, error="invalid_token"`)

/** The path of the metadata after the URL of the issuer (OpenID Connect Discovery 1.0 section 4). */
const wellKnown = '/.well-known/openid-configuration'

type OpenIdConnect = {
  /** The `openIdConnectUrl` of the scheme. */
  url: string
  /** The required audience: the `aud` claim of the tokens. */
  audience: string
  /** The `iss` claim of the tokens; default: the URL without the well-known path. */
  issuer?: string
}

/**
 * Creates the verifier of an openIdConnect scheme. It accepts the provider's JWT access tokens (RFC 9068), but no ID
 * tokens. It fetches the provider's keys for the first token. Rejects when the URL is not the metadata URL of the
 * issuer.
 */
export async function openIdConnectVerifier(
  app: FastifyInstance,
  { url, audience, issuer = url.replace(wellKnown, '') }: OpenIdConnect,
  mayCost: MayCost = alwaysAllowed,
): Promise<Verifier> {
  if (!isIssuer(issuer) || issuer.replace(/\/$/, '') + wellKnown !== url) {
    throw new Error(
      `openIdConnectUrl ${JSON.stringify(url)} must be the https URL of the issuer followed by ${wellKnown}`,
    )
  }
  const { jwtVerifier } = await import('./jwt.ts')
  return await bearerVerifier(app, jwtVerifier({ issuer, audience, jwksUrl: undefined }), mayCost)
}
