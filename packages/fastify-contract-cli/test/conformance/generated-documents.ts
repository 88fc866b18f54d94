import { type Document, itemAt, operationsIn } from '../../src/document/openapi-document.ts'
import { type Compiled, compileDocument } from '../../src/emit/compile.ts'
import type { Files } from '../../src/emit/generated-files.ts'
import { handlerStubs } from '../../src/emit/handler-stubs.ts'
import { isRejection } from './rejection.ts'

/** The files generated from a document, or from those of its operations that can be served. */
export type Generated = { name: string; operations: number; served: number; files?: Files; handlers?: string[] }

/** Generates a document, skipping rejected operations. Rejects when generation fails for any other reason. */
export async function generateDocument(name: string, document: Document): Promise<Generated> {
  const paths = Object.keys(document.paths ?? {}).filter((path) => path.startsWith('/'))
  const operations = paths.flatMap((path) => operationsIn(itemAt(document, path))).length
  const compiled = await servable(name, document)
  if (compiled === undefined) return { name, operations, served: 0 }
  const { files, routes } = compiled
  return { name, operations, served: routes.operations.length, files, handlers: handlerStubs(compiled, undefined) }
}

/** Returns what can be served of a document; undefined when generation rejects it whole, with an explanation. */
async function servable(name: string, document: Document): Promise<Compiled | undefined> {
  try {
    return await compileDocument(document, name, { skipUnsupported: true })
  } catch (error) {
    if (isRejection(error)) return undefined
    throw error
  }
}
