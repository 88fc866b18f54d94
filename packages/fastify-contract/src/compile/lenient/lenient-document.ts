import type { Document } from '../document/openapi-document.ts'
import { lenientPaths } from './lenient-paths.ts'
import { lenientStructure, type TextAt } from './lenient-structure.ts'

/**
 * Returns a bundled document without the mistakes that leave no doubt about what their author meant, and without those
 * that do not concern a server. `advice` has a line for each of them, in the form `POINTER: TEXT`.
 *
 * @param textAt Returns the text of a value in the file of the document.
 */
export function lenientDocument(
  document: Document,
  textAt: TextAt = () => undefined,
): { mended: Document; advice: string[] } {
  const advice: string[] = []
  // A document without a version is none of OpenAPI 3.
  if (document.openapi === undefined) return { mended: document, advice }
  const advise = (pointer: string, text: string) => advice.push(`${pointer}: ${text}`)
  const paths = lenientPaths(lenientStructure(document, advise, textAt))
  return { mended: paths.document, advice: [...advice, ...paths.advice] }
}
