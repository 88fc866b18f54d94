import type { Document } from '../document/openapi-document.ts'
import { afterPasses, discriminatorPass, normalizingPasses, publishingPasses, upgradingPasses } from './passes.ts'

/**
 * Returns a bundled document as OpenAPI 3.1 with defined styles, and also with its discriminators as schemas. Both keep
 * the pointers of the document, so that problems are reported with them.
 */
export function upgrade(document: Document): { upgraded: Document; discriminated: Document } {
  const upgraded = afterPasses(document, upgradingPasses)
  return { upgraded, discriminated: discriminatorPass(upgraded) }
}

/** Returns a document with discriminators as schemas in the form that the generators expect. */
export const normalize = (discriminated: Document): Document => afterPasses(discriminated, normalizingPasses)

/** Returns a published document in the form of `normalize`. */
export const normalizedDocument = (document: Document): Document => normalize(upgrade(document).discriminated)

/** Returns a document as it is published: with the styles and the operationIds that are assumed. */
export const asPublished = (document: Document): Document => afterPasses(document, publishingPasses)
