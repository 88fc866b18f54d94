import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { docsDirectory, writeDocs } from '../docs/docs-page.ts'
import { configurations } from '../redocly/redocly.ts'

/** The size of a document up to which `init` writes its pages, in characters: larger ones take more than two seconds. */
const sizeLimit = 600_000

/**
 * Writes the documentation of a new project, so that its service shows it at once, and returns the directory, relative to
 * that of the project. Returns undefined if it writes none, since a project does not need it: if the published document is
 * large, if Redocly would read a configuration, whose plugins are code, or if the pages cannot be written.
 */
export async function writeFirstDocs(directory: string, published: string): Promise<string | undefined> {
  if (published.length > sizeLimit || configurations.some((name) => existsSync(join(directory, name)))) return undefined
  return await writeDocs(join(directory, docsDirectory), {
    generated: join(directory, 'generated'),
    released: join(directory, 'openapi', 'released'),
    project: directory,
  }).then(
    () => docsDirectory,
    () => undefined,
  )
}
