import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeDocs } from '../docs/docs-page.ts'
import { docsDirectory } from '../docs/source-mark.ts'
import { configurations } from '../redocly/redocly.ts'
import { lineText } from '../text/source-text.ts'

/** The size of a document up to which `init` writes its pages, in characters: larger ones take more than two seconds. */
const sizeLimit = 600_000

/** The pages of a new project: their directory, relative to that of the project, or why there are none. */
export type FirstDocs = { directory: string } | { reason: string }

/**
 * Writes the documentation of a new project, so that its service shows it at once. A project does not need it, so `init`
 * writes none if the published document is large, if Redocly would read a configuration, whose plugins are code, or if
 * the pages cannot be written.
 */
export async function writeFirstDocs(directory: string, published: string): Promise<FirstDocs> {
  if (published.length > sizeLimit) return { reason: 'a document of this size takes long' }
  const configuration = configurations.find((name) => existsSync(join(directory, name)))
  if (configuration !== undefined) return { reason: `the plugins of ${configuration} are code` }
  return await writeDocs(join(directory, docsDirectory), {
    generated: join(directory, 'generated'),
    released: join(directory, 'openapi', 'released'),
    project: directory,
  }).then(
    () => ({ directory: docsDirectory }),
    (error: Error) => ({ reason: lineText(error.message) }),
  )
}
