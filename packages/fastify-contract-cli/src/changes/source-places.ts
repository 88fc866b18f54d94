import { bundleSources } from '../read/bundle-sources.ts'
import { readDocument } from '../read/read-document.ts'

/**
 * Returns a function that finds the location, FILE:LINE:COLUMN, of a pointer of a bundled document in its source files.
 * If the sources have nothing at the pointer, it is the location of the closest ancestor.
 */
export const sourcePlaces = async (path: string): Promise<(pointer: string) => string> =>
  bundleSources(await readDocument(path)).placeOf
