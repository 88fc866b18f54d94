import type { Files } from './generated-files.ts'
import { ineffectiveNullables } from './ineffective-nullable.ts'
import type { Document } from './openapi-document.ts'
import { derivedNames } from './operation-ids.ts'
import { countedMarks, ineffectiveMarks } from './read-write-problems.ts'
import { uncheckedReplies } from './reply-schemas.ts'
import { uncheckedBodies } from './request-schemas.ts'
import { undeclaredScopes } from './security-scopes.ts'
import { asOpenApi31 } from './upgrade-3-0.ts'

/** Prints a warning to stderr for each place that is served in a way that its author may not expect. */
export function printWarnings(files: Files, path: string): void {
  for (const warning of warnings(JSON.parse(files['openapi.json'] as string))) console.warn(`${path}: ${warning}`)
}

/** Returns the warnings of a bundled document. */
function warnings(document: Document): string[] {
  const upgraded = asOpenApi31(document)
  return [
    ...derivedNames(upgraded),
    ...undeclaredScopes(upgraded),
    ...uncheckedBodies(upgraded),
    ...uncheckedReplies(upgraded),
    ...ineffectiveNullables(document),
    ...ineffectiveMarks(upgraded),
    ...countedMarks(upgraded),
  ]
}
