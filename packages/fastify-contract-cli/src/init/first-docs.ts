import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeDocs } from '../docs/docs-page.ts'
import { configurations } from '../redocly/redocly.ts'

/**
 * Writes the documentation of a new project, so that its service shows it at once, and returns the directory, relative to
 * that of the project. Returns undefined if Redocly would read a configuration, whose plugins are code, and if the pages
 * cannot be written: a project does not need them.
 */
export async function writeFirstDocs(directory: string): Promise<string | undefined> {
  if (configurations.some((name) => existsSync(name))) return undefined
  const docs = join('dist', 'docs')
  return await writeDocs(join(directory, docs), {
    generated: join(directory, 'generated'),
    released: join(directory, 'openapi', 'released'),
  }).then(
    () => docs,
    () => undefined,
  )
}
