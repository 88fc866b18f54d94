import { withHeaderSchemas, withItemSchemas, withoutJsonRanges } from '../document/contents.ts'
import { withDirections } from '../document/directions.ts'
import { withDiscriminators } from '../document/discriminators.ts'
import type { Document } from '../document/openapi-document.ts'
import { withPathQueries } from '../document/path-queries.ts'
import { withSharedSchemas } from '../document/shared-schemas.ts'
import type { Advise } from '../reports/reports.ts'
import { withDefinedStyles, withPublishedStyles } from './assumed-styles.ts'
import { withCertainTypes } from './certain-types.ts'
import { withExactUnions } from './exact-integers.ts'
import { lenientPaths } from './lenient/lenient-paths.ts'
import { lenientStructure, type TextAt } from './lenient/lenient-structure.ts'
import { withoutNeedlessReferences } from './lenient/needless-references.ts'
import { asOpenApi31 } from './openapi-3-1.ts'
import { withOperationIds, withReplacedOperationIds } from './operation-ids.ts'
import { withServedForms } from './served-forms.ts'

/*
 * All passes, in their order. Each takes the document that the one before it returns. lenient-document.ts applies
 * `mendingPasses`; normalize.ts applies the others.
 */

/** Returns a document that is simpler than the given one, or closer to what its author meant. */
export type Pass = (document: Document) => Document

/** What the passes that mend a document need beside it. */
export type Mending = {
  advise: Advise
  /** Returns the text of a value in the file of the document. */
  textAt: TextAt
  /** The references without a target, by the pointers of the objects that have them. */
  unresolved: ReadonlyMap<string, { text: string }>
}

/** Mend what leaves no doubt about what the author meant, and what a server does not need; each reports its changes. */
export const mendingPasses = ({ advise, textAt, unresolved }: Mending): Pass[] => [
  (document) => withoutNeedlessReferences(document, unresolved, advise),
  (document) => lenientStructure(document, advise, textAt),
  (document) => lenientPaths(document, advise),
]

/** Write what is published as it is served, so that clients made from it agree with the service. */
export const publishingPasses: Pass[] = [withReplacedOperationIds, withPublishedStyles]

/** Turn each version into OpenAPI 3.1. They keep the pointers of the document, so that problems are reported with them. */
export const upgradingPasses: Pass[] = [asOpenApi31, withDefinedStyles, withPathQueries]

/** Write discriminators as schemas. The rules check the document before it. */
export const discriminatorPass: Pass = withDiscriminators

/**
 * Give the document the form that the generators expect: an operationId for each operation, a media type for each JSON
 * body, references by name, and separate schemas for requests and responses where these differ.
 */
export const normalizingPasses: Pass[] = [
  withOperationIds,
  withoutJsonRanges,
  withHeaderSchemas,
  withItemSchemas,
  withServedForms,
  withSharedSchemas,
  withDirections,
  withExactUnions,
  withCertainTypes,
]

/** Returns a document after some passes. */
export function afterPasses(document: Document, passes: Pass[]): Document {
  let result = document
  for (const pass of passes) result = pass(result)
  return result
}
