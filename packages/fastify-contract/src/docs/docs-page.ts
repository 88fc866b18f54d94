import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { redocly } from '../compile/redocly.ts'
import { sampleLanguages, withCodeSamples } from './code-samples.ts'
import { historyPage } from './history-page.ts'
import { sourceOf } from './plain-page.ts'
import { tryPage } from './try-page.ts'

const published = join('generated', 'openapi.json')
const releases = join('openapi', 'released')
const folder = join('packages', 'fastify-contract', 'src', 'docs')
const template = join(folder, 'template.hbs')
const ownScript = join(folder, 'page-repairs.js')

/**
 * The files and folders that the pages depend on, besides the documents; package.json stands for the version of Redoc.
 */
const sources = [
  folder,
  join('packages', 'fastify-contract', 'src', 'changes'),
  'redocly.yaml',
  join('node_modules', '@redocly', 'cli', 'package.json'),
]

/**
 * Writes the documentation of a bundled document into a directory: index.html, which loads nothing, and history.html,
 * which compares the released documents. Returns the path of index.html. The same documents always give the same bytes.
 * Replaces earlier pages only when the new ones are complete.
 */
export async function writeDocs(directory: string, document = published, released = releases): Promise<string> {
  await mkdir(directory, { recursive: true })
  const temporary = await mkdtemp(join(directory, 'building-'))
  try {
    const built = join(temporary, 'index.html')
    const shown = join(temporary, 'openapi.json')
    await writeFile(shown, JSON.stringify(withCodeSamples(JSON.parse(await readFile(document, 'utf8')))))
    await redocly(
      'build-docs',
      shown,
      `--output=${built}`,
      `--template=${template}`,
      '--inlineBundle',
      // Without this tag Redoc shows schemas only inside the operations that use them.
      '--openapi.schemaDefinitionsTagName=Schemas',
    )
    const html = selfContainedPage(await readFile(built, 'utf8'), await readFile(ownScript, 'utf8'))
    await writeFile(built, html + (await sourceMark(document, released)))
    const history = join(temporary, 'history.html')
    await writeFile(history, await historyPage(document, released))
    await rename(history, join(directory, 'history.html'))
    const page = join(directory, 'index.html')
    await rename(built, page)
    return page
  } finally {
    await rm(temporary, { recursive: true })
  }
}

/** Calls `writeDocs` unless the existing page was built from the same sources. */
export async function writeStaleDocs(directory: string): Promise<void> {
  const page = await readFile(join(directory, 'index.html'), 'utf8').catch(() => '')
  if (!page.endsWith(await sourceMark(published, releases))) await writeDocs(directory)
}

/** Writes try.html into a directory. Only the service uses it: a published page has no service to send requests to. */
export async function writeTryPage(directory: string, document = published): Promise<void> {
  await mkdir(directory, { recursive: true })
  const page = join(directory, 'try.html')
  const part = `${page}.${process.pid}`
  await writeFile(part, await tryPage(JSON.parse(await readFile(document, 'utf8'))))
  await rename(part, page)
}

/** Returns the last line of a complete page, with a hash of its sources. */
async function sourceMark(document: string, released: string): Promise<string> {
  const hash = createHash('sha256')
  for (const source of [document, released, ...sources]) {
    for (const file of await filesOf(source)) hash.update(await readFile(file))
  }
  return `<!-- sha256 of its sources: ${hash.digest('hex')} -->\n`
}

/** Returns the path of a file, or the sorted paths of the files of a directory. */
async function filesOf(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path]
  return (await readdir(path)).sort().map((name) => join(path, name))
}

/** Replacements in the script of Redoc 3.0.1: they remove the URLs that it would load and add options. */
const replacements: [from: RegExp, to: string][] = [
  [/https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g, 'data:,'],
  [/(?<=^ *const __redoc_options = \{)/gm, `"codeSamples":${JSON.stringify({ languages: sampleLanguages })},`],
]

/**
 * Returns a page of Redoc that requests nothing. It has no prerendered part, runs our own script before Redoc's, and
 * has the hashes of both in its Content-Security-Policy. The prerendered part is removed because it contains raw HTML
 * from the document, which must never determine a hash; the script contains the document only as JSON without "<".
 * Redoc's option `sanitize` does not help: build-docs 2.77 cannot prerender with it. The linter rejects what a policy
 * cannot block, such as <meta http-equiv="refresh">.
 */
export function selfContainedPage(built: string, ownScript: string): string {
  const [head = '', ...prerendered] = built.split('<div id="redoc">')
  const tag = '<script type="module">'
  const rest = prerendered.join('').split(tag).at(-1) as string
  const end = rest.indexOf('</script>')
  let script = rest.slice(0, end)
  const isKnown = built.includes(tag) && end >= 0 && !head.includes('<script')
  if (prerendered.length === 0 || !isKnown || !replacements.every(([from]) => script.match(from))) {
    throw new Error('redocly build-docs: the page differs from that of version 2.77; adapt selfContainedPage to it')
  }
  for (const [from, to] of replacements) script = script.replace(from, to)
  const policy = `${sourceOf(ownScript)} ${sourceOf(script)}`
  return `${head.replace('SCRIPT_HASHES', policy)}<script>${ownScript}</script><div id="redoc"></div>${tag}${script}${rest.slice(end)}`
}
