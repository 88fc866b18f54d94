import { join } from 'node:path'
import type { Sampled } from '../docs/code-samples.ts'
import { writeDocs } from '../docs/docs-page.ts'
import { docsDirectory } from '../docs/source-mark.ts'
import { lineText } from '../text/source-text.ts'

/** The pages of a new project: their directory, relative to that of the project, or why there are none. */
export type FirstDocs = { directory: string } | { reason: string }

/**
 * Writes the documentation of a new project, so that its service shows it at once. A project does not need it, so `init`
 * writes none if the pages cannot be written.
 */
export async function writeFirstDocs(directory: string, compiled: Sampled): Promise<FirstDocs> {
  const options = { generated: join(directory, 'generated'), released: join(directory, 'openapi', 'released') }
  return await writeDocs(join(directory, docsDirectory), options, compiled).then(
    () => ({ directory: docsDirectory }),
    (error: Error) => ({ reason: lineText(error.message) }),
  )
}
