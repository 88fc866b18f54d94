import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Document } from '../../src/document/openapi-document.ts'

const directory = dirname(fileURLToPath(import.meta.resolve('@readme/oas-examples/package.json')))

/** Returns the example documents by file name; the package's YAML copies are left out. */
export const exampleDocuments = (): [name: string, document: Document][] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^\d\.\d\/json\/.*\.json$/.test(file))
    .sort()
    .map((file) => [file, JSON.parse(readFileSync(join(directory, file), 'utf8'))])
