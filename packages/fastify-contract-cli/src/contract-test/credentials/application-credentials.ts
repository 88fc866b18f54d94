import { type TestableApp, testCredentials } from 'fastify-contract/testing'
import type { Document } from '../../document/openapi-document.ts'
import { scopesOf, securityScheme, tokenVerifierOf } from '../../document/security-schemes.ts'
import type { SchemeCredentials } from './scheme-credentials.ts'

/**
 * Makes the verifiers of an application of the engine accept random credentials, and returns these by the name of their
 * security scheme. Returns none for other applications. Throws an Error if NODE_ENV is `production`.
 */
export async function applicationCredentials(
  document: Document,
  app: TestableApp,
): Promise<Record<string, SchemeCredentials>> {
  const found: Record<string, SchemeCredentials> = {}
  for (const [scheme, { accepted, narrow }] of Object.entries(await testCredentials(app, scopesOf(document)))) {
    const isBasic = tokenVerifierOf(securityScheme(document, scheme)) === 'basic'
    const written = (secret: string) => (isBasic ? `contract-test:${secret}` : secret)
    found[scheme] = { accepted: written(accepted), narrow: written(narrow) }
  }
  return found
}
