import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Routes } from './routes.ts'

/** The generated files that the service reads at start. */
export type Contract = {
  /** The text of the OpenAPI document, as published. */
  documentText: string
  routes: Routes
}

/** The SHA-256 digests of the generated files that the service reads, in hexadecimal: `digests.json`. */
export type Digests = { 'openapi.json': string; 'routes.json': string }

/**
 * Reads the contract from the directory of the generated files. Rejects with a one-line message if a file is missing or
 * is not the one that this build was made with: types, error numbers and handlers would not match it.
 *
 * @param digests The content of digests.json, imported by the application so that a bundle contains it.
 */
export async function loadContract(directory: URL, digests: Digests): Promise<Contract> {
  const [documentText, routes] = await Promise.all([read('openapi.json'), read('routes.json')])
  return { documentText, routes: JSON.parse(routes) }

  async function read(name: keyof Digests): Promise<string> {
    const text = await readFile(new URL(name, directory), 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new Error(`generated/${name} cannot be read (${error.code}); ${remedy}`)
    })
    if (createHash('sha256').update(text).digest('hex') === digests[name]) return text
    throw new Error(`generated/${name} does not belong to this build; ${remedy}`)
  }
}

const remedy = 'run npm run generate, then npm run build'
