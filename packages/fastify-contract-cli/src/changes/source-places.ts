import { bundleSources } from '../read/bundle-sources.ts'
import type { OverlayOptions } from '../read/overlays/overlays.ts'
import { readDocument } from '../read/read-document.ts'
import type { Sources } from '../read/source-files.ts'

/** How the files of a document are read: with overlays, unless `sources` has them. */
export type PlaceOptions = OverlayOptions & { sources?: Sources }

/**
 * Returns a function that finds the location, FILE:LINE:COLUMN, of a pointer of a bundled document in its source files.
 * If the sources have nothing at the pointer, it is the location of the closest ancestor.
 */
export const sourcePlaces = async (
  path: string,
  { sources, ...overlaying }: PlaceOptions = {},
): Promise<(pointer: string) => string> => bundleSources(sources ?? (await readDocument(path, overlaying))).placeOf
