import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { redocly } from '../generate/redocly.ts'

const published = join('generated', 'openapi.json')
const folder = join('scripts', 'docs')
const template = join(folder, 'template.hbs')

/** All that the page depends on; of Redoc it is enough to know the version. */
const sources = [
  template,
  join(folder, 'docs-page.ts'),
  'redocly.yaml',
  join('node_modules', '@redocly', 'cli', 'package.json'),
]

/**
 * Writes the documentation of a bundled document into a directory: index.html, which loads nothing. Returns its path.
 * The same document gives the same bytes. An earlier page stays until the new one is whole.
 */
export async function writeDocs(directory: string, document = published): Promise<string> {
  await mkdir(directory, { recursive: true })
  const temporary = await mkdtemp(join(directory, 'building-'))
  try {
    const built = join(temporary, 'index.html')
    await redocly(
      'build-docs',
      document,
      `--output=${built}`,
      `--template=${template}`,
      '--inlineBundle',
      // Without a name of its own for them Redoc shows only the schemas that an operation uses, and only there.
      '--openapi.schemaDefinitionsTagName=Schemas',
    )
    await writeFile(built, withPolicy(await readFile(built, 'utf8')) + (await mark(document)))
    const page = join(directory, 'index.html')
    await rename(built, page)
    return page
  } finally {
    await rm(temporary, { recursive: true })
  }
}

/** Does the same, unless the page that is there was made from the same. */
export async function writeStaleDocs(directory: string): Promise<void> {
  const page = await readFile(join(directory, 'index.html'), 'utf8').catch(() => '')
  if (!page.endsWith(await mark(published))) await writeDocs(directory)
}

/**
 * Returns a page of Redoc without its prerendered part, and with the hash of its one script in its policy. The hash
 * must not be one that a description chose: Redoc writes raw HTML of the document into the prerendered part, and the
 * document into the script as JSON without "<". Redoc's option `sanitize` would be no help: build-docs 2.77 cannot
 * prerender with it. What a policy cannot refuse, <meta http-equiv="refresh"> for one, the linter does.
 */
function withPolicy(built: string): string {
  const [head = '', ...prerendered] = built.split('<div id="redoc">')
  const script = '<script type="module">'
  const rest = prerendered.join('').split(script).at(-1) as string
  const end = rest.indexOf('</script>')
  if (prerendered.length === 0 || !built.includes(script) || end < 0 || head.includes('<script')) {
    throw new Error('redocly build-docs: the page has other scripts than it had with version 2.77; see withPolicy')
  }
  const hash = createHash('sha256').update(rest.slice(0, end)).digest('base64')
  return `${head.replace('SCRIPT_HASH', `'sha256-${hash}'`)}<div id="redoc"></div>${script}${rest}`
}

/** Returns the last line of a page that is whole. */
async function mark(document: string): Promise<string> {
  const hash = createHash('sha256')
  for (const source of [document, ...sources]) hash.update(await readFile(source))
  return `<!-- sha256 of what it was made from: ${hash.digest('hex')} -->\n`
}
