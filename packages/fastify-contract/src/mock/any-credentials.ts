import type { FastifyInstance } from 'fastify'
import { type ApiKeyLocation, apiKeyVerifier } from '../auth/api-key.ts'
import { basicVerifier } from '../auth/basic.ts'
import { bearerVerifier } from '../auth/bearer.ts'
import { type Document, endpoints } from '../compile/openapi-document.ts'
import { securityScheme } from '../compile/security-schemes.ts'
import { scopesOf } from '../compile/security-scopes.ts'
import type { Verifier, Verifiers } from '../serve/security.ts'

/**
 * Returns verifiers for the security schemes that the operations of a document require. They accept any well-formed
 * credentials and grant every scope. Schemes that the service has no verifier for need no credentials.
 */
export async function anyCredentials(app: FastifyInstance, document: Document): Promise<Verifiers> {
  const anybody = { name: 'anybody', scopes: scopesOf(document) }
  const verify = () => anybody
  const verifiers: Verifiers = {}
  for (const name of endpoints(document).flatMap(({ security }) => security.flatMap(Object.keys))) {
    verifiers[name] ??= await verifierOf(name)
  }
  return verifiers

  async function verifierOf(name: string): Promise<Verifier> {
    const { type, scheme = '', ...place } = securityScheme(document, name)
    const kind = type === 'http' ? scheme.toLowerCase() : type
    if (kind === 'apiKey') return apiKeyVerifier(place as ApiKeyLocation, verify)
    if (kind === 'basic') return basicVerifier(verify)
    if (['bearer', 'oauth2', 'openIdConnect'].includes(kind)) return await bearerVerifier(app, verify)
    return (_request, done) => done(undefined, anybody)
  }
}
