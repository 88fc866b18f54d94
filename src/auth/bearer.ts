import type { Socket } from 'node:net'
import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../http/authenticated-client.ts'
import { ContractError } from '../http/errors.ts'
import { contextOf } from '../http/request-context.ts'
import type { RateLimit } from '../limits/rate-limit.ts'
import type { Verifier } from '../openapi/security.ts'
import type { VerifyToken } from './tokens.ts'

const realm = 'Bearer realm="plant-store"'

/** RFC 9110 section 11.1: the scheme in any case, then spaces and something. */
const scheme = /^bearer +[^ ]/i

/** RFC 6750 section 2.1; bearer-auth itself would trim what only looks like a space. */
const credentials = /^bearer +[\w.~+/-]+=*$/i

export type BearerLimits = {
  /** Of requests that are refused for their token, by address. */
  failures: RateLimit
  /** Of requests, by client. */
  requests: RateLimit
}

/** What bearer-auth reads of a request, and the client that it was found to come from. */
type Attempt = Pick<FastifyRequest, 'raw' | 'log'> & { client?: Client }

/** Creates the verifier of the bearer scheme: it asks `verify` for the client of each token, and counts what is limited. */
export async function bearerVerifier(
  app: FastifyInstance,
  verify: VerifyToken,
  { failures, requests }: BearerLimits,
): Promise<Verifier> {
  await app.register(bearerAuth, {
    keys: new Set<string>(),
    auth(token, request) {
      const attempt = request as unknown as Attempt
      const accept = (client: Client | undefined) => {
        if (client !== undefined) attempt.client = client
        return client !== undefined
      }
      const client = verify(token, () => failures.wait(addressOf(attempt)) === 0)
      return client instanceof Promise ? whilePaused(attempt.raw.socket, client).then(accept) : accept(client)
    },
    addHook: false,
    // RFC 6750 has the scheme name in any case, by RFC 9110; the option of that name does not.
    specCompliance: 'rfc6749',
    // A refused request is no error of the service.
    verifyErrorLogLevel: 'debug',
  })
  // Valid tokens bypass the per-address limit, so that neighbours behind one address cannot lock each other out.
  const refuse = (request: FastifyRequest, error: ContractError) => tooMany(failures.take(addressOf(request))) ?? error
  return (request, done) => {
    const given = request.headers.authorization ?? ''
    if (!credentials.test(given)) {
      return done(refuse(request, scheme.test(given) ? invalidToken() : missingToken()))
    }
    const attempt: Attempt = { raw: request.raw, log: request.log }
    app.verifyBearerAuth?.(attempt as FastifyRequest, ignored, (error) => {
      const { client } = attempt
      if (error === undefined) done(tooMany(requests.take(String(client?.name))), client)
      else if ((error as { statusCode?: number }).statusCode === 401) done(refuse(request, invalidToken()))
      else done(error)
    })
  }
}

/**
 * Pauses a connection until a promise settles, so that an unauthenticated client cannot fill the memory with its body. The
 * connections of Fastify's inject cannot be paused.
 */
function whilePaused<T>(socket: Partial<Socket>, waiting: Promise<T>): Promise<T> {
  socket.pause?.()
  return waiting.finally(() => socket.resume?.())
}

const addressOf = ({ raw }: Attempt): string => String(contextOf(raw).address)

/** It sets a status on the reply that it is given, before anybody knows whether another scheme will do. */
const ignored = { code() {} } as unknown as FastifyReply

/** RFC 6750 section 3.1: without a token there is no error code. */
const missingToken = () => new ContractError('missingToken', 'an access token is needed', { 'www-authenticate': realm })

/** One message for a token that is unknown, expired or revoked. */
const invalidToken = () =>
  new ContractError('invalidToken', 'the access token is not valid', {
    'www-authenticate': `${realm}, error="invalid_token"`,
  })

/** RFC 6585 section 4. */
const tooMany = (seconds: number) =>
  seconds === 0
    ? undefined
    : new ContractError('tooManyRequests', 'too many requests', { 'retry-after': String(Math.ceil(seconds)) })
