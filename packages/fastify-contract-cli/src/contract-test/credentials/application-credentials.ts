import { type TestableApp, testCredentials } from 'fastify-contract/testing'
import type { Document } from '../../document/openapi-document.ts'
import { scopesOf } from '../../document/security-schemes.ts'
import { sendableSchemes } from './environment-credentials.ts'
import type { SchemeCredentials } from './scheme-credentials.ts'

/** What the verifiers of an application accept until `withdraw` is called. */
type ApplicationCredentials = { schemes: Record<string, SchemeCredentials>; withdraw(): void }

/**
 * Makes the verifiers of an application of the engine accept credentials of a test, and returns those that a request can
 * carry by the name of their security scheme. Returns none for other applications. Throws an Error if NODE_ENV is
 * `production`.
 */
export async function applicationCredentials(document: Document, app: TestableApp): Promise<ApplicationCredentials> {
  const { schemes, withdraw } = await testCredentials(app, scopesOf(document))
  const known = sendableSchemes(document)
  return { schemes: Object.fromEntries(Object.entries(schemes).filter(([name]) => known.includes(name))), withdraw }
}
