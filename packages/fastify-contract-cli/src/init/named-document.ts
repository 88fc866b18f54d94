import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FetchOptions } from '../fetch/url-reader.ts'
import { isUrl, parsedUrl, shownUrl } from '../fetch/url-rules.ts'
import { isWithin } from '../read/file-text.ts'
import { fetchDocument } from '../read/read-document.ts'
import { readSources, type Sources } from '../read/source-files.ts'
import { type Copy, placeDocument, placeOverlays } from './place-document.ts'

/** The document of a new project. */
export type NamedDocument = {
  sources: Sources
  /** Its path within the project. */
  path: string
  copies: Copy[]
  /** The paths of its overlays within the project. */
  overlays: string[]
  /** The URL from which it was fetched. */
  origin?: string | undefined
}

/** How `init` reads a document. */
export type NamedOptions = Pick<FetchOptions, 'onFile'> & {
  allowedOrigins: string[]
  includeOutside: boolean
  /** The paths of the overlays of the document. */
  overlays: string[]
}

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
  const { overlays } = options
  const placed = placeOverlays(overlays, directory)
  if (isUrl(document)) {
    const fetched = await fetchDocument(document, fetching)
    const copies = fetched.paths.map((path) => ({ from: join(fetched.directory, path), to: path }))
    const origin = shownUrl(parsedUrl(document))
    const path = (copies[0] as Copy).to
    return { sources: fetched.sources, path, origin, overlays: placed.paths, copies: [...copies, ...placed.copies] }
  }
  if (!existsSync(document)) throw new Error(`init: ${document} does not exist; name an OpenAPI document`)
  const within = [dirname(document), ...(isWithin(directory, document) ? [directory] : [])]
  const sources = await readSources(document, includeOutside ? undefined : within, undefined, { overlays })
  const files = [...sources.files.keys()]
  // The packages of a project are within its directory.
  const { path, copies } =
    document === sample
      ? { path: 'openapi.yaml', copies: [{ from: sample, to: 'openapi.yaml' }] }
      : placeDocument(files, directory)
  return { sources, path, overlays: placed.paths, copies: [...copies, ...placed.copies] }
}
