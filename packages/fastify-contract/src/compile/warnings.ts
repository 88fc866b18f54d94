import { unvalidatedBodies, unvalidatedResponses } from './document/contents.ts'
import type { Document } from './document/openapi-document.ts'
import { asOpenApi31 } from './document/openapi-versions.ts'
import { derivedNameWarnings } from './document/operation-ids.ts'
import { slowPatternWarnings } from './document/patterns.ts'
import { undeclaredScopes } from './document/security.ts'
import type { Files } from './emit/generated-files.ts'
import { countedPropertyWarnings, ineffectiveMarkWarnings } from './rules/read-write-problems.ts'
import { ineffectiveNullables } from './rules/unsupported-schemas.ts'

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
