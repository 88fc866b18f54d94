import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance } from 'fastify'
import { ContractError } from '../contract/errors.ts'
import type { Verifier } from '../contract/security.ts'
import type { VerifyToken } from './tokens.ts'

const realm = 'Bearer realm="plant-store"'

/** RFC 9110 section 11.1: the scheme in any case, then spaces and something. */
const scheme = /^bearer +[^ ]/i

/** RFC 6750 section 2.1; bearer-auth itself would trim what only looks like a space. */
const credentials = /^bearer +[\w.~+/-]+=*$/i

/** Gives the verifier of the bearer scheme: it asks `verify` for the token of each request. */
export async function bearerVerifier(app: FastifyInstance, verify: VerifyToken): Promise<Verifier> {
  await app.register(bearerAuth, {
    keys: new Set<string>(),
    auth: verify,
    addHook: false,
    // RFC 6750 has the scheme name in any case, by RFC 9110; the option of that name does not.
    specCompliance: 'rfc6749',
    // A refused request is no error of the service.
    verifyErrorLogLevel: 'debug',
  })
  const check = app.verifyBearerAuth
  return (request) =>
    new Promise((resolve, reject) => {
      // RFC 6750 section 3.1: without a token there is no error code.
      const given = request.headers.authorization ?? ''
      if (!scheme.test(given)) {
        reject(new ContractError('missingToken', 'an access token is needed', { 'www-authenticate': realm }))
        return
      }
      if (!credentials.test(given)) {
        reject(refused())
        return
      }
      // It sets a status on the reply that it is given, before anybody knows whether another scheme will do.
      check?.(request, { code() {} } as never, (error) => {
        if (error === undefined) resolve()
        else if ((error as { statusCode?: number }).statusCode === 401) reject(refused())
        else reject(error)
      })
    })
}

/** One message for a token that is unknown, expired or revoked. */
const refused = () =>
  new ContractError('invalidToken', 'the access token is not valid', {
    'www-authenticate': `${realm}, error="invalid_token"`,
  })
