import type { Files } from './generated-files.ts'
import { ineffectiveNullables } from './ineffective-nullable.ts'
import type { Document } from './openapi-document.ts'
import { derivedNameWarnings } from './operation-ids.ts'
import { countedPropertyWarnings, ineffectiveMarkWarnings } from './read-write-problems.ts'
import { unvalidatedBodies } from './request-schemas.ts'
import { unvalidatedResponses } from './response-schemas.ts'
import { undeclaredScopes } from './security-scopes.ts'
import { slowPatternWarnings } from './slow-patterns.ts'
import { asOpenApi31 } from './upgrade-3-0.ts'

/** Prints a warning to stderr for each place that is served in a way that its author may not expect. */
export function printWarnings(files: Files, path: string): void {
  for (const warning of warnings(JSON.parse(files['openapi.json'] as string))) console.warn(`${path}: ${warning}`)
}

/** Returns the warnings of a bundled document. */
function warnings(document: Document): string[] {
  const upgraded = asOpenApi31(document)
  return [
    ...derivedNameWarnings(upgraded),
    ...undeclaredScopes(upgraded),
    ...unvalidatedBodies(upgraded),
    ...unvalidatedResponses(upgraded),
    ...ineffectiveNullables(document),
    ...ineffectiveMarkWarnings(upgraded),
    ...countedPropertyWarnings(upgraded),
    ...slowPatternWarnings(upgraded),
  ]
}
