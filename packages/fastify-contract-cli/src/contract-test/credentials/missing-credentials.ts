import type { SecurityRequirement } from 'fastify-contract/contract'
import type { Document } from '../../document/openapi-document.ts'
import { conflictingSchemes, credentialOf, securityScheme } from '../../document/security-schemes.ts'
import { variableOf } from './environment-credentials.ts'

/**
 * Returns why no request meets the security requirements of an operation, and how to give credentials; undefined if there are
 * credentials, or none are needed.
 *
 * @param hasCredentials Whether there are credentials of a scheme.
 */
export function missingCredentials(
  document: Document,
  security: SecurityRequirement[],
  hasCredentials: (scheme: string) => boolean,
): string | undefined {
  const unsent: string[] = []
  const missing: string[][] = []
  for (const requirement of security) {
    const schemes = Object.keys(requirement)
    const carriesNone = schemes.find((scheme) => credentialOf(document, scheme) === undefined)
    const conflict = conflictingSchemes(document, requirement)
    if (carriesNone !== undefined)
      unsent.push(
        `no request of a test can carry those of ${carriesNone} (${securityScheme(document, carriesNone).type})`,
      )
    else if (conflict !== undefined) unsent.push(`those of ${conflict.join(' and ')} need the same header`)
    else missing.push(schemes.filter((scheme) => !hasCredentials(scheme)))
  }
  if (security.length === 0 || missing.some(({ length }) => length === 0)) return undefined
  if (missing.length === 0) return ['there are no credentials', ...new Set(unsent)].join('; ')
  return [
    `there are no credentials for ${alternatives(missing)}`,
    ...new Set(unsent),
    `set ${alternatives(missing, variableOf)}, or the option credentials`,
  ].join('; ')
}

/** Returns a list such as `a and b, or c`. */
const alternatives = (lists: string[][], textOf = (name: string) => name): string =>
  [...new Set(lists.map((names) => names.map(textOf).join(' and ')))].join(', or ')
