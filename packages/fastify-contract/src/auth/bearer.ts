import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../http/authenticated-client.ts'
import { scopeError } from '../http/scopes.ts'
import type { Verifier } from '../serve/security.ts'
import { alwaysAllowed, type MayCost } from './auth-limits.ts'
import { challengeOf, invalidCredentials, missingCredentials } from './challenges.ts'
import { whilePaused } from './paused-connection.ts'
import type { VerifyToken } from './tokens.ts'

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
