import { withErrorTable } from '../document/error-numbers.ts'
import type { Document } from '../document/openapi-document.ts'
import { type ExactIntegers, exactJson } from '../passes/exact-integers.ts'
import { asPublished } from '../passes/normalize.ts'

/** Returns the document as the service publishes it. */
export const openapiJson = (document: Document, integers: ExactIntegers): string =>
  `${exactJson(withErrorTable(asPublished(document)), integers)}\n`
