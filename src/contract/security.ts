import type { FastifyRequest } from 'fastify'
import type { SecurityRequirement } from './document.ts'

/**
 * Resolves when the request carries what the scheme asks for, else rejects with the ContractError to answer with. Who
 * knows the name of the client tells the exchange of the request.
 */
export type Verifier = (request: FastifyRequest) => Promise<void>

/** One verifier for each security scheme, by its name in the document. */
export type Verifiers = Record<string, Verifier>

/**
 * Takes the security requirements of an operation; gives the verifier of them all. One of the requirements must be met,
 * and of that every scheme (OpenAPI 3.1 section 4.8.30); an empty list asks for nothing.
 */
export function authenticator(requirements: SecurityRequirement[], verifiers: Verifiers): Verifier {
  const alternatives = requirements.map((requirement) =>
    Object.keys(requirement).map((scheme) => verifiers[scheme] as Verifier),
  )
  return async (request) => {
    let refusal: unknown
    for (const schemes of alternatives) {
      try {
        for (const verify of schemes) await verify(request)
        return
      } catch (error) {
        refusal = error
      }
    }
    if (alternatives.length > 0) throw refusal
  }
}
