import { createHash } from 'node:crypto'
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { redocly } from '../generate/redocly.ts'

const document = join('generated', 'openapi.json')
const template = join('scripts', 'docs', 'template.hbs')

/** All that the page depends on; of Redoc it is enough to know the version. */
const sources = [document, template, 'redocly.yaml', join('node_modules', '@redocly', 'cli', 'package.json')]

/**
 * Writes the documentation of the bundled document into a directory: index.html, which loads nothing. Gives its path.
 * The same document gives the same bytes.
 */
export async function writeDocs(directory: string): Promise<string> {
  const page = join(directory, 'index.html')
  await redocly(
    'build-docs',
    document,
    `--output=${page}`,
    `--template=${template}`,
    '--inlineBundle',
    // Without a name of its own for them Redoc shows only the schemas that an operation uses, and only there.
    '--openapi.schemaDefinitionsTagName=Schemas',
  )
  await appendFile(page, await mark())
  return page
}

/** Does the same, unless the page that is there was made from the same. */
export async function writeStaleDocs(directory: string): Promise<void> {
  const page = await readFile(join(directory, 'index.html'), 'utf8').catch(() => '')
  if (!page.endsWith(await mark())) await writeDocs(directory)
}

/** The last line of a page that is whole. */
async function mark(): Promise<string> {
  const hash = createHash('sha256')
  for (const source of sources) hash.update(await readFile(source))
  return `<!-- sha256 of what it was made from: ${hash.digest('hex')} -->\n`
}
