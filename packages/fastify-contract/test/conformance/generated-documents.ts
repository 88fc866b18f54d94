import { type Compiled, compileDocument } from '../../src/compile/compile.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import type { Files } from '../../src/compile/emit/generated-files.ts'
import { handlerStubs } from '../../src/compile/emit/handler-stubs.ts'
import { documentWith, operationsOf } from './example-documents.ts'
import { isRejection } from './rejection.ts'

/** The files generated from a document, or from those of its operations that can be served. */
export type Generated = { name: string; operations: number; served: number; files?: Files; handlers?: string[] }

/** Generates a document, skipping rejected operations. Rejects when generation fails for any other reason. */
export async function generateDocument(name: string, document: Document): Promise<Generated> {
  const all = operationsOf(document)
  const whole = await compiledOrRefusal(name, document)
  if (whole !== undefined) return generatedOf(name, all.length, all.length, whole)
  const served = []
  for (const operation of all) {
    if ((await compiledOrRefusal(name, documentWith(document, [operation]))) !== undefined) served.push(operation)
  }
  const part = served.length === 0 ? undefined : await compiledOrRefusal(name, documentWith(document, served))
  if (part === undefined) return { name, operations: all.length, served: 0 }
  return generatedOf(name, all.length, served.length, part)
}

const generatedOf = (name: string, operations: number, served: number, compiled: Compiled): Generated => ({
  name,
  operations,
  served,
  files: compiled.files,
  handlers: handlerStubs(compiled, undefined),
})

/** Returns the compiled document; undefined when generation rejects the document with an explanation. */
async function compiledOrRefusal(name: string, document: Document): Promise<Compiled | undefined> {
  try {
    return await compileDocument(document, name)
  } catch (error) {
    if (isRejection(error)) return undefined
    throw error
  }
}
