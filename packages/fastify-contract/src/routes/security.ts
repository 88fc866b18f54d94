import type { FastifyReply, FastifyRequest } from 'fastify'
import { replaceableIn } from '../auth/test-clients.ts'
import {
  scopeError,
  type Verified,
  type Verifier,
  type VerifierContext,
  type VerifierFactory,
  type Verifiers,
} from '../auth/verifiers.ts'
import { ContractError, errorOf, isUnauthenticated } from '../contract/errors.ts'
import { mayReadBody } from '../contract/media-types.ts'
import type { Operation, SecurityRequirement } from '../contract/routes.ts'
import { catchRejection } from '../http/caught-errors.ts'
import { type Client, contextOf, logFailure, recordClient, recordOperation } from '../http/request-context.ts'
import type { Hook } from '../http/request-guards.ts'
import type { RateLimit, RequestLimit } from '../limits/limits.ts'

/** Returns all scopes that the operations require, without duplicates. */
export const requiredScopes = (operations: Pick<Operation, 'security'>[]): string[] => [
  ...new Set(operations.flatMap(({ security }) => security.flatMap(Object.values<string[]>).flat())),
]

/** Creates the verifiers of an app, by the names of their security schemes. */
export async function createVerifiers(
  factories: Record<string, VerifierFactory>,
  context: VerifierContext,
): Promise<Verifiers> {
  const verifiers: Verifiers = {}
  // One after the other, because only one of several may register a plugin.
  for (const [name, create] of Object.entries(factories))
    verifiers[name] = await create({ ...context, onReplaceable: replaceableIn(context.app, name) })
  return verifiers
}

/**
 * Returns the ids of the operations with a scheme that verifies the body. Throws an Error for one whose handler reads the
 * body itself, so that nothing could verify it before.
 */
export function signedOperations(operations: Operation[], verifiers: Verifiers): Set<string> {
  const ids = new Set<string>()
  for (const { operationId, security, schema } of operations) {
    const scheme = security.flatMap(Object.keys).find((name) => verifiers[name]?.verifiesBody)
    if (scheme === undefined) continue
    if (mayReadBody(schema)) {
      const problem = `operation ${operationId}: security scheme ${scheme} verifies the body, which its handler reads itself`
      throw new Error(`${problem}; use only media types of JSON, text or URL-encoded forms`)
    }
    ids.add(operationId)
  }
  return ids
}

/**
 * Returns a function that returns the hook that authenticates the requests of an operation and authorizes their clients:
 * it rejects with 401, 403 or 429. Operations with the same requirements share one check: hundreds of them would not fit
 * into the cache of the processor.
 */
export function authentication(
  verifiers: Verifiers,
  { afterAuthentication }: AuthLimits,
): (operation: Operation) => Hook {
  const checks = new Map<string, Authenticator>()
  return function authenticationOf({ operationId, security }) {
    const key = JSON.stringify(security)
    const verify = checks.get(key) ?? authenticator(security, verifiers)
    checks.set(key, verify)
    return function authenticate(request, reply, done) {
      const context = contextOf(request.raw)
      recordOperation(context, operationId)
      let isDone = false
      const finish: Finish = (rejection, client, scheme) => {
        // A second result, as of a verifier that fails after its first, must not run the next steps again.
        if (isDone) return ignoreResult(request, rejection)
        isDone = true
        recordClient(context, client, scheme)
        const decision = afterAuthentication(request, reply, rejection, client)
        // If the connection has closed while the verifier waited, the request ends here: later steps do not check that.
        if (!reply.raw.destroyed) done(decision)
      }
      verify(request, finish, reply)
    }
  }
}

/** Ignores a result of a verifier that has called back before. Logs it if it is an error. */
function ignoreResult(request: FastifyRequest, rejection: Error | undefined): void {
  if (rejection !== undefined) logFailure(request, rejection)
}

/** Gets the result of security schemes, with the one that has identified the client. */
type Finish = (rejection?: Error, client?: Client, scheme?: string) => void

/** Checks the security schemes of an operation. */
type Authenticator = (request: FastifyRequest, done: Finish, reply: FastifyReply) => void

/**
 * Returns a function that checks the security requirements of an operation. One of them must be satisfied, with all its
 * schemes and their scopes (OpenAPI 3.1 section 4.8.30); an empty list requires nothing. The client is that of the
 * first scheme that identifies one. Of several rejections it reports the most specific. An empty requirement makes
 * authentication optional, wherever it is listed: a request without credentials passes, and wrong ones are rejected.
 */
export function authenticator(requirements: SecurityRequirement[], verifiers: Verifiers): Authenticator {
  const alternatives: Authenticator[] = []
  for (const requirement of requirements) {
    const checks: Authenticator[] = []
    for (const [scheme, scopes] of Object.entries(requirement))
      checks.push(scoped(scheme, caught(verifiers[scheme] as Verifier), scopes))
    if (checks.length > 0) alternatives.push(joined(checks, both))
  }
  const authenticate = joined(alternatives, either)
  return alternatives.length < requirements.length ? optional(authenticate) : authenticate
}

/** Lets a request without any credentials pass. */
function optional(authenticate: Authenticator): Authenticator {
  return function verifyOptional(request, done, reply) {
    const finish: Finish = (rejection, client, scheme) =>
      done(client === undefined && isMissing(rejection) ? undefined : rejection, client, scheme)
    authenticate(request, finish, reply)
  }
}

const isMissing = (rejection: Error | undefined): boolean =>
  rejection instanceof ContractError && rejection.kind === 'missingToken'

const joined = (
  [first = pass, ...more]: Authenticator[],
  join: (one: Authenticator, other: Authenticator) => Authenticator,
): Authenticator => more.reduce(join, first)

const pass: Authenticator = (_request, done) => done()

/**
 * Passes what a verifier throws, or rejects with, to its callback: it may run in a timer of another verifier. What is
 * thrown may be undefined, which must not count as a success.
 */
function caught(verify: Verifier): Verifier {
  return function verifyCaught(request, done, scopes, reply) {
    try {
      const returned: unknown = verify(request, done, scopes, reply)
      if (returned !== undefined) catchRejection(returned, (thrown) => done(errorOf(thrown)))
    } catch (thrown) {
      done(errorOf(thrown))
    }
  }
}

/** Verifies one scheme. It checks the scopes again, in case the verifier ignores them. */
function scoped(scheme: string, verify: Verifier, scopes: readonly string[]): Authenticator {
  return function verifyScopes(request, done, reply) {
    const finish: Verified = (rejection, client) =>
      done(rejection ?? scopeError(client, scopes), client, client && scheme)
    verify(request, finish, scopes, reply)
  }
}

/**
 * Combines two checks, both of which must pass. The second runs even if the credentials of the first are missing: where
 * credentials are optional, a request is anonymous only if it has none at all.
 */
function both(one: Authenticator, other: Authenticator): Authenticator {
  return function verifyBoth(request, done, reply) {
    const continueWithOther: Finish = (rejection, client, scheme) => {
      if (rejection !== undefined && !isMissing(rejection)) return done(rejection, client, scheme)
      const finish: Finish = (otherRejection, otherClient, otherScheme) => {
        const reportsSecond = rejection === undefined || (otherRejection !== undefined && !isMissing(otherRejection))
        done(reportsSecond ? otherRejection : rejection, client ?? otherClient, scheme ?? otherScheme)
      }
      other(request, finish, reply)
    }
    one(request, continueWithOther, reply)
  }
}

/** Combines two checks, one of which must pass. The second runs only if the first rejects the request. */
function either(one: Authenticator, other: Authenticator): Authenticator {
  return function verifyEither(request, done, reply) {
    const continueWithOther: Finish = (rejection, client, scheme) => {
      if (rejection === undefined) return done(undefined, client, scheme)
      const finish: Finish = (otherRejection, otherClient, otherScheme) => {
        if (otherRejection === undefined) done(undefined, otherClient, otherScheme)
        else done(moreSpecificError(rejection, otherRejection), client ?? otherClient, scheme ?? otherScheme)
      }
      other(request, finish, reply)
    }
    one(request, continueWithOther, reply)
  }
}

/** Statuses from the least to the most specific. Any other status, such as 503, outranks them all. */
const order = [401, 403, 429]

const challengeHeader = 'www-authenticate'

/**
 * Returns the more specific of two rejections, or the first if they are equal. A 401 lists the challenges of both,
 * since either scheme is sufficient (RFC 9110 section 11.6.1).
 */
function moreSpecificError(first: Error, second: Error): Error {
  const chosen = rankOf(second) > rankOf(first) ? second : first
  if (!isUnauthenticated(chosen)) return chosen
  // A 401 ranks lowest, so the other rejection is a 401 too, and both have challenges.
  const challenges = withoutRepeats(challengesOf(first as ContractError), challengesOf(second as ContractError))
  if (challenges === challengesOf(chosen)) return chosen
  const headers = { ...chosen.headers, [challengeHeader]: challenges }
  return new ContractError(chosen.kind, chosen.message, headers, chosen.statusCode)
}

/** Ranks by status; wrong credentials are more specific than missing ones. */
function rankOf(rejection: Error): number {
  if (!(rejection instanceof ContractError)) return Number.POSITIVE_INFINITY
  const index = order.indexOf(rejection.statusCode)
  return 2 * (index === -1 ? rejection.statusCode : index) + (rejection.kind === 'missingToken' ? 0 : 1)
}

const challengesOf = ({ headers }: ContractError): string => headers[challengeHeader] ?? ''

function withoutRepeats(first: string, second: string): string {
  if (first.includes(second)) return first
  return second.includes(first) ? second : `${first}, ${second}`
}

/** The rate limits of authentication. */
export type AuthLimits = ReturnType<typeof authLimits>

/**
 * Returns the rate limits of authentication. `failures` counts requests with wrong or missing credentials by address,
 * and `requests` counts the requests of each client. Both count after the last scheme, since credentials that one
 * scheme rejects may be valid for another.
 */
export function authLimits(failures: RateLimit, requests: RequestLimit) {
  return {
    /** See VerifierContext. */
    withinFailureLimit: (request: Pick<FastifyRequest, 'raw'>): boolean => failures.wait(addressOf(request)) === 0,
    /** See VerifierContext. */
    countFailure: (request: Pick<FastifyRequest, 'raw'>) => tooMany(failures.take(addressOf(request))),
    /**
     * Counts a request whose schemes were checked, and adds the headers of its client's limit to the response. Returns
     * the error to respond with, if any.
     */
    afterAuthentication(
      request: FastifyRequest,
      reply: FastifyReply,
      rejection: Error | undefined,
      client: Client | undefined,
    ): Error | undefined {
      // Valid tokens bypass the per-address limit, so that neighbors behind one address cannot lock each other out.
      if (rejection !== undefined && isUnauthenticated(rejection))
        return tooMany(failures.take(addressOf(request))) ?? rejection
      if (client === undefined) return rejection
      const seconds = requests.take(client.name)
      const fields = requests.fields?.(client.name)
      if (fields !== undefined) reply.headers(fields)
      return tooMany(seconds) ?? rejection
    },
  }
}

/** Returns the address by which the requests of unknown clients are counted. */
export const addressOf: (request: Pick<FastifyRequest, 'raw'>) => string = ({ raw }) => String(contextOf(raw).address)

/** Returns the 429 error (RFC 6585 section 4) with `Retry-After` in seconds, or undefined for 0 seconds. */
export const tooMany = (seconds: number): ContractError | undefined =>
  seconds === 0
    ? undefined
    : new ContractError('tooManyRequests', 'too many requests', { 'retry-after': String(Math.ceil(seconds)) })
