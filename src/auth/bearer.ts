import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../http/authenticated-client.ts'
import { scopeRefusal } from '../http/scopes.ts'
import type { Verifier } from '../openapi/security.ts'
import { always, type MayCost } from './auth-limits.ts'
import { challengeOf, invalidCredentials, missingCredentials } from './challenges.ts'
import { whilePaused } from './paused-connection.ts'
import type { VerifyToken } from './tokens.ts'

const challenge = challengeOf('Bearer')

/** RFC 9110 section 11.1: the scheme in any case, then spaces and something. */
const scheme = /^bearer +[^ ]/i

/** RFC 6750 section 2.1; bearer-auth itself would trim what only looks like a space. */
const credentials = /^bearer +[\w.~+/-]+=*$/i

/** What bearer-auth reads of a request, and the client that it was found to come from. */
type Attempt = Pick<FastifyRequest, 'raw' | 'log'> & { client?: Client }

/**
 * Creates the verifier of a scheme whose credentials are bearer tokens: http bearer, oauth2, openIdConnect. It asks
 * `verify` for the client of each token. One app may have several.
 */
export async function bearerVerifier(
  app: FastifyInstance,
  verify: VerifyToken,
  mayCost: MayCost = always,
): Promise<Verifier> {
  const options = {
    keys: new Set<string>(),
    addHook: false as const,
    // A refused request is no error of the service.
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
    // RFC 6750 has the scheme name in any case, by RFC 9110; the option of that name does not.
    specCompliance: 'rfc6749',
  })
  return (request, done, scopes) => {
    const given = request.headers.authorization ?? ''
    if (!credentials.test(given)) return done(scheme.test(given) ? invalidToken() : missingToken())
    const attempt: Attempt = { raw: request.raw, log: request.log }
    check(attempt as FastifyRequest, ignored, (error) => {
      const { client } = attempt
      if (error === undefined) done(scopeRefusal(client, scopes, challenge), client)
      else done((error as { statusCode?: number }).statusCode === 401 ? invalidToken() : error)
    })
  }
}

/** It sets a status on the reply that it is given, before anybody knows whether another scheme will do. */
const ignored = { code() {} } as unknown as FastifyReply

/** RFC 6750 section 3.1: without a token there is no error code. */
const missingToken = () => missingCredentials('an access token is needed', challenge)

/** One message for a token that is unknown, expired or revoked. */
const invalidToken = () => invalidCredentials('the access token is not valid', `${challenge}, error="invalid_token"`)
