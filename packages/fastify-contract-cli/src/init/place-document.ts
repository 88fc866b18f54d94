import { basename, dirname, join, relative, resolve } from 'node:path'
import { isWithin } from '../read/file-text.ts'

/** A file of the document to copy: its absolute path, and its path within the project. */
export type Copy = { from: string; to: string }

/**
 * Returns the path of the document in the project, and the files to copy; none if the document is there already.
 *
 * @param files The absolute paths of the files of the document, which is the first.
 */
export function placeDocument(files: string[], directory: string): { path: string; copies: Copy[] } {
  const [document = ''] = files
  if (isWithin(directory, document)) return { path: relative(directory, document), copies: [] }
  if (files.length === 1) return { path: basename(document), copies: [{ from: document, to: basename(document) }] }
  const common = commonDirectory(files.map((file) => dirname(file)))
  const copies = files.map((from) => ({ from, to: join('openapi', relative(common, from)) }))
  return { path: (copies[0] as Copy).to, copies }
}

/**
 * Returns the paths of overlays in the project, and those to copy. Throws an Error if two of them would have the same path.
 */
export function placeOverlays(overlays: string[], directory: string): { paths: string[]; copies: Copy[] } {
  const copies: Copy[] = []
  const paths = overlays.map((path) => {
    const from = resolve(path)
    if (isWithin(resolve(directory), from)) return relative(resolve(directory), from)
    const to = join('overlays', basename(from))
    copies.push({ from, to })
    return to
  })
  const twice = paths.find((path, index) => paths.indexOf(path) !== index)
  if (twice !== undefined) throw new Error(`init: two overlays would be ${twice}; rename one of them`)
  return { paths, copies }
}

/** Returns the deepest directory that contains all of the given absolute ones. */
function commonDirectory([first = '', ...others]: string[]): string {
  const above = dirname(first)
  return above === first || others.every((other) => isWithin(first, other))
    ? first
    : commonDirectory([above, ...others])
}
