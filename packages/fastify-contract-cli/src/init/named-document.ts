import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FetchOptions } from '../fetch/url-reader.ts'
import { isUrl, parsedUrl, shownUrl } from '../fetch/url-rules.ts'
import { isWithin } from '../read/file-text.ts'
import { fetchDocument } from '../read/read-document.ts'
import { readSources, type Sources } from '../read/source-files.ts'
import { type Copy, placeDocument } from './place-document.ts'

/** The document of a new project. */
export type NamedDocument = {
  sources: Sources
  /** Its path within the project. */
  path: string
  copies: Copy[]
  /** The URL from which it was fetched. */
  origin?: string | undefined
}

/** How `init` reads a document. */
export type NamedOptions = Pick<FetchOptions, 'onFile'> & { allowedOrigins: string[]; includeOutside: boolean }

/** The document of a project without one of its own. */
export const sample = join(import.meta.dirname, '..', 'init', 'sample', 'openapi.yaml')

/**
 * Reads the document that a user names by a path or a URL, and the files to which it refers: those of a path only below the
 * directory of the document, unless the user allows others.
 *
 * @param directory The directory of the project.
 */
export async function readNamed(document: string, directory: string, options: NamedOptions): Promise<NamedDocument> {
  const { includeOutside, ...fetching } = options
  if (isUrl(document)) {
    const fetched = await fetchDocument(document, fetching)
    const copies = fetched.paths.map((path) => ({ from: join(fetched.directory, path), to: path }))
    return { sources: fetched.sources, path: (copies[0] as Copy).to, copies, origin: shownUrl(parsedUrl(document)) }
  }
  if (!existsSync(document)) throw new Error(`init: ${document} does not exist; name an OpenAPI document`)
  const within = [dirname(document), ...(isWithin(directory, document) ? [directory] : [])]
  const sources = await readSources(document, includeOutside ? undefined : within)
  const files = [...sources.files.keys()]
  // The packages of a project are within its directory.
  if (document === sample) return { sources, path: 'openapi.yaml', copies: [{ from: sample, to: 'openapi.yaml' }] }
  return { sources, ...placeDocument(files, directory) }
}
