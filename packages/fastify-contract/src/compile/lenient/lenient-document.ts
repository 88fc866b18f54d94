import type { Document } from '../document/openapi-document.ts'
import { type Advise, warning } from '../rules/reports.ts'
import { lenientPaths } from './lenient-paths.ts'
import { type Unresolved, withoutIdleReferences } from './lenient-references.ts'
import { lenientStructure, type TextAt } from './lenient-structure.ts'

/**
 * Returns a bundled document without the mistakes that leave no doubt about what their author meant, and without those
 * that do not concern a server. `advice` has a line for each of them, in the form `POINTER: TEXT`.
 *
 * `unresolved` are the references without a target that are left.
 *
 * @param textAt Returns the text of a value in the file of the document.
 */
export function lenientDocument(
  document: Document,
  textAt: TextAt = () => undefined,
  unresolved: Unresolved = new Map(),
): { mended: Document; advice: string[]; unresolved: Unresolved } {
  const advice: string[] = []
  // A document without a version is none of OpenAPI 3.
  if (document.openapi === undefined) return { mended: document, advice, unresolved }
  const advise: Advise = (...given) => advice.push(warning(...given))
  const plain = withoutIdleReferences(document, unresolved, advise)
  const paths = lenientPaths(lenientStructure(plain.document, advise, textAt))
  return { mended: paths.document, advice: [...advice, ...paths.advice], unresolved: plain.unresolved }
}
