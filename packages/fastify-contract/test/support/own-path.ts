import { join, relative } from 'node:path'

/** Returns the path of a file of this package, relative to the working directory, as messages show it. */
export const ownPath = (path: string): string => relative('.', join(import.meta.dirname, '../..', path))
