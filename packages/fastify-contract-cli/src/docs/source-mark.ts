import { createHash } from 'node:crypto'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { toolDigest } from '../digests/tool-digest.ts'

/** What a documentation page shows. */
export type DocsOptions = {
  /** The directory of the generated files. */
  generated: string
  /** The directory of the released documents. */
  released: string
  /** The module that the code samples import createClient from. */
  client: string
}

/** The default directory of the documentation, which the service shows. */
export const docsDirectory = join('dist', 'docs')

export const docsDefaults = {
  generated: 'generated',
  released: join('openapi', 'released'),
  client: './client.ts',
}

/** Returns the path of a file of Redocly, which contains Redoc. */
export const fileOfRedocly = (name: string): string => createRequire(import.meta.url).resolve(`@redocly/cli/${name}`)

export const publishedIn = ({ generated }: Pick<DocsOptions, 'generated'>): string => join(generated, 'openapi.json')

/**
 * Returns the last line of a complete page, with a hash of its sources: the documents, the code of the commands, and the
 * versions of the packages that they need, such as Redoc.
 */
export async function sourceMark(options: DocsOptions): Promise<string> {
  const hash = createHash('sha256').update(options.client).update(toolDigest())
  for (const source of [publishedIn(options), options.released]) {
    for (const file of await filesOf(source)) hash.update(await readFile(file))
  }
  return `<!-- sha256 of its sources: ${hash.digest('hex')} -->\n`
}

/** Returns whether the page in a directory was built from these sources. Reads only its last line. */
export async function isCurrent(directory: string, options: Partial<DocsOptions>): Promise<boolean> {
  const mark = await sourceMark({ ...docsDefaults, ...options })
  const file = await open(join(directory, 'index.html')).catch(() => undefined)
  if (file === undefined) return false
  try {
    const { size } = await file.stat()
    const { buffer } = await file.read(Buffer.alloc(mark.length), 0, mark.length, Math.max(0, size - mark.length))
    return buffer.toString() === mark
  } finally {
    await file.close()
  }
}

/** Returns the path of a file, or the sorted paths of the files of a directory; none if nothing is there. */
async function filesOf(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return (await readdir(path)).sort().map((name) => join(path, name))
  return found === undefined ? [] : [path]
}
