import type { Document } from './document/openapi-document.ts'
import { asOpenApi31 } from './document/openapi-versions.ts'
import type { Files } from './emit/generated-files.ts'
import { countedPropertyWarnings, ineffectiveMarkWarnings } from './rules/read-write-problems.ts'
import { unvalidatedBodies, unvalidatedResponses } from './rules/unsupported-bodies.ts'
import { derivedNameWarnings, undeclaredScopes } from './rules/unsupported-features.ts'
import { ineffectiveNullables, slowPatternWarnings } from './rules/unsupported-schemas.ts'

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
