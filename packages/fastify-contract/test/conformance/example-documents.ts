import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { resolve } from '../../src/compile/document/json-pointer.ts'
import type { Document } from '../../src/compile/document/openapi-document.ts'
import { methods, type Node } from '../../src/compile/document/walk-document.ts'

const folder = dirname(fileURLToPath(import.meta.resolve('@readme/oas-examples/package.json')))

/** Returns the example documents by file name; the package's YAML copies are left out. */
export const exampleDocuments = (): [name: string, document: Document][] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^\d\.\d\/json\/.*\.json$/.test(file))
    .sort()
    .map((file) => [file, JSON.parse(readFileSync(join(folder, file), 'utf8'))])

type Paths = Record<string, Node>

/** Splits a document's paths: returns one paths object for each operation. */
export const operationsOf = (document: Document): Paths[] =>
  Object.entries((document.paths ?? {}) as Paths).flatMap(([path, given]) => {
    const item = typeof given.$ref === 'string' ? (resolve(document, given.$ref) as Node) : given
    const isMethod = (name: string) => methods.includes(name)
    return Object.keys(item)
      .filter(isMethod)
      .map((method) => ({
        [path]: Object.fromEntries(Object.entries(item).filter(([name]) => name === method || !isMethod(name))),
      }))
  })

/** Returns a copy of a document with only the given operations. */
export function documentWith(document: Document, operations: Paths[]): Document {
  const paths: Paths = {}
  for (const operation of operations) {
    for (const [path, item] of Object.entries(operation)) paths[path] = { ...paths[path], ...item }
  }
  return { ...document, paths }
}
