import type { Document } from '../../src/document/openapi-document.ts'
import * as passes from '../../src/passes/lenient/lenient-paths.ts'
import { warning } from '../../src/reports/reports.ts'

/** Returns a document with mended paths, and the advice. */
export function lenientPaths(given: Document): { document: Document; advice: string[] } {
  const advice: string[] = []
  const document = passes.lenientPaths(given, (...report) => advice.push(warning(...report)))
  return { document, advice }
}
