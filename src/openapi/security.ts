import type { FastifyRequest } from 'fastify'
import type { Client } from '../http/authenticated-client.ts'
import { toContractError } from '../http/errors.ts'
import type { SecurityRequirement } from './routes.ts'

/**
 * Calls `done` once: with the error to answer with when a request does not carry what a security scheme asks for, else
 * with the client that it authenticates. By a callback, because a promise for each scheme of each request costs more
 * than most checks.
 */
export type Verifier = (request: FastifyRequest, done: Verified) => void

type Verified = (refusal: Error | undefined, client?: Client) => void

/** One verifier for each security scheme, by its name in the document. */
export type Verifiers = Record<string, Verifier>

/**
 * Returns the verifier of the security requirements of an operation: one of them must be met, and of that every scheme
 * (OpenAPI 3.1 section 4.8.30); an empty list asks for nothing. The client is that of the first scheme that names one.
 */
export function authenticator(requirements: SecurityRequirement[], verifiers: Verifiers): Verifier {
  const alternatives = requirements.map((requirement) =>
    joined(
      Object.keys(requirement).map((scheme) => verifiers[scheme] as Verifier),
      both,
    ),
  )
  return joined(alternatives, either)
}

const joined = ([first = pass, ...more]: Verifier[], join: (one: Verifier, other: Verifier) => Verifier): Verifier =>
  more.reduce(join, first)

const pass: Verifier = (_request, done) => done(undefined)

const both =
  (one: Verifier, other: Verifier): Verifier =>
  (request, done) =>
    one(request, (refusal, client) => {
      if (refusal !== undefined) return done(refusal)
      other(request, (refusal, second) => done(refusal, client ?? second))
    })

const either =
  (one: Verifier, other: Verifier): Verifier =>
  (request, done) =>
    one(request, (refusal, client) => {
      if (refusal === undefined) return done(undefined, client)
      other(request, (second, client) => done(second && weightier(refusal, second), client))
    })

/** Returns the refusal that is not about missing credentials: a client that is limited must learn when to come back. */
const weightier = (first: Error, second: Error): Error => (toContractError(first).statusCode === 401 ? second : first)
