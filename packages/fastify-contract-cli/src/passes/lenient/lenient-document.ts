import type { Document } from '../../document/openapi-document.ts'
import { type Advise, warning } from '../../reports/reports.ts'
import { afterPasses, type Mending, mendingPasses } from '../passes.ts'

/**
 * Returns a bundled document without the mistakes that leave no doubt about what their author meant, and without those
 * that do not concern a server. `advice` has a line for each of them, in the form `POINTER: TEXT`.
 *
 * @param textAt Returns the text of a value in the file of the document.
 * @param unresolved The references without a target, by the pointers of the objects that have them.
 */
export function lenientDocument(
  document: Document,
  textAt: Mending['textAt'] = () => undefined,
  unresolved: Mending['unresolved'] = new Map(),
): { mended: Document; advice: string[] } {
  const advice: string[] = []
  // A document without a version is none of OpenAPI 3.
  if (document.openapi === undefined) return { mended: document, advice }
  const advise: Advise = (...given) => advice.push(warning(...given))
  return { mended: afterPasses(document, mendingPasses({ advise, textAt, unresolved })), advice }
}
