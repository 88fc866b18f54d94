import type { FastifyRequest } from 'fastify'
import type { SecurityRequirement } from './document.ts'

/**
 * Tells whether the request carries what the scheme asks for: `done` is called once, with the error to answer with when
 * it does not. By a callback, because a promise for each scheme of each request costs more than most checks. Who knows
 * the name of the client tells the exchange of the request.
 */
export type Verifier = (request: FastifyRequest, done: (refusal?: Error) => void) => void

/** One verifier for each security scheme, by its name in the document. */
export type Verifiers = Record<string, Verifier>

/**
 * Takes the security requirements of an operation; gives the verifier of them all. One of the requirements must be met,
 * and of that every scheme (OpenAPI 3.1 section 4.8.30); an empty list asks for nothing.
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

const pass: Verifier = (_request, done) => done()

const both =
  (one: Verifier, other: Verifier): Verifier =>
  (request, done) =>
    one(request, (refusal) => (refusal === undefined ? other(request, done) : done(refusal)))

const either =
  (one: Verifier, other: Verifier): Verifier =>
  (request, done) =>
    one(request, (refusal) => (refusal === undefined ? done() : other(request, done)))
