import type { FastifyRequest } from 'fastify'
import type { Client } from '../http/authenticated-client.ts'
import { scopeRefusal } from '../http/scopes.ts'
import type { Operation, SecurityRequirement } from './routes.ts'
import { weightierRefusal } from './weightier-refusal.ts'

/**
 * Calls `done` once: with the error to answer with when a request does not carry what a security scheme asks for, else
 * with the client that it authenticates. `scopes` are those that the operation asks for; a client without them may be
 * refused here, with a challenge of the scheme, and is refused in any case. By a callback, because a promise for each
 * scheme of each request costs more than most checks.
 */
export type Verifier = (request: FastifyRequest, done: Verified, scopes: readonly string[]) => void

type Verified = (refusal?: Error, client?: Client) => void

/** Returns every scope that one of the operations asks for. */
export const requiredScopes = (operations: Pick<Operation, 'security'>[]): string[] => [
  ...new Set(
    operations.flatMap(({ security }) => security.flatMap((requirement) => Object.values(requirement).flat())),
  ),
]

/** One verifier for each security scheme, by its name in the document. */
export type Verifiers = Record<string, Verifier>

/** Checks every scheme of an operation. `ignored` is the refusal of wrong credentials that the request did not need. */
type Authenticator = (
  request: FastifyRequest,
  done: (refusal?: Error, client?: Client, ignored?: Error) => void,
) => void

/**
 * Returns the error to refuse a request with after all its schemes were asked, undefined for none. It may count the
 * request, as one of its client or as a failure.
 */
export type Conclude = (
  request: FastifyRequest,
  refusal: Error | undefined,
  client: Client | undefined,
  ignored: Error | undefined,
) => Error | undefined

/**
 * Returns a function that checks the security requirements of an operation: one of them must be met, and of that every scheme with
 * its scopes (OpenAPI 3.1 section 4.8.30); an empty list asks for nothing. The client is that of the first scheme that
 * names one. Of several refusals the most telling is given.
 */
export function authenticator(requirements: SecurityRequirement[], verifiers: Verifiers): Authenticator {
  const alternatives = requirements.map((requirement) =>
    joined(
      Object.entries(requirement).map(([scheme, scopes]) => scoped(verifiers[scheme] as Verifier, scopes)),
      both,
    ),
  )
  return joined(alternatives, either)
}

const joined = (
  [first = pass, ...more]: Authenticator[],
  join: (one: Authenticator, other: Authenticator) => Authenticator,
): Authenticator => more.reduce(join, first)

const pass: Authenticator = (_request, done) => done()

/** Asks one scheme. Its client is checked again, so that a verifier that overlooks the scopes opens no door. */
const scoped = (verify: Verifier, scopes: readonly string[]): Authenticator =>
  scopes.length === 0
    ? (request, done) => verify(request, done, scopes)
    : (request, done) =>
        verify(request, (refusal, client) => done(refusal ?? scopeRefusal(client, scopes), client), scopes)

const both =
  (one: Authenticator, other: Authenticator): Authenticator =>
  (request, done) =>
    one(request, (refusal, client) => {
      if (refusal !== undefined) return done(refusal, client)
      other(request, (refusal, second) => done(refusal, client ?? second))
    })

const either =
  (one: Authenticator, other: Authenticator): Authenticator =>
  (request, done) =>
    one(request, (first, client, ignored) => {
      if (first === undefined) return done(undefined, client, ignored)
      other(request, (second, another) => {
        if (second !== undefined) return done(weightierRefusal(first, second), client ?? another)
        done(undefined, another, another === undefined ? first : undefined)
      })
    })
