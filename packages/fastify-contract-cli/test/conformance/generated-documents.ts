import { type Document, itemAt, operationsIn } from '../../src/document/openapi-document.ts'
import { type Compiled, compileDocument } from '../../src/emit/compile.ts'
import { handlerStubs } from '../../src/emit/handler-stubs.ts'
import { isRejection } from './rejection.ts'

/** The files generated from a document, or from those of its operations that can be served. */
export type Generated = Partial<Pick<Compiled, 'contract' | 'files'>> & {
  name: string
  operations: number
  served: number
  handlers?: string[]
}

/** Generates a document, skipping rejected operations. Rejects when generation fails for any other reason. */
export async function generateDocument(name: string, document: Document): Promise<Generated> {
  const paths = Object.keys(document.paths ?? {}).filter((path) => path.startsWith('/'))
  const operations = paths.flatMap((path) => operationsIn(itemAt(document, path))).length
  const compiled = await servable(name, document)
  if (compiled === undefined) return { name, operations, served: 0 }
  const { contract, files, routes } = compiled
  const handlers = handlerStubs(compiled, undefined)
  return { name, operations, served: routes.operations.length, contract, files, handlers }
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
