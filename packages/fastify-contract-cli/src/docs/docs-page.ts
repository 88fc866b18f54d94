import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { parseExactJson, stringifyJson } from 'fastify-contract/json'
import type { Document } from '../document/openapi-document.ts'
import { withMarks } from '../read/source-copies.ts'
import { redocly, styleRules } from '../redocly/redocly.ts'
import { browserScript } from './browser-script.ts'
import { sampleLanguages } from './code-samples.ts'
import { historyPage } from './history-page.ts'
import { sourceOf } from './plain-page.ts'
import { shownDocument } from './shown-document.ts'
import { tryPage } from './try-page.ts'

/** What a documentation page shows. */
export type DocsOptions = {
  /** The directory of the generated files. */
  generated: string
  /** The directory of the released documents. */
  released: string
  /** The module that the code samples import createClient from. */
  client: string
  /** The directory whose configuration of Redocly applies; by default the current one. */
  project?: string
}

/** The default directory of the documentation, which the service shows. */
export const docsDirectory = join('dist', 'docs')

export const docsDefaults = {
  generated: 'generated',
  released: join('openapi', 'released'),
  client: './client.ts',
}

const template = join(import.meta.dirname, 'template.hbs')

/**
 * Writes the documentation of a service into a directory: index.html, which loads nothing, history.html, which compares
 * the released documents, and openapi.json, the document itself. Returns the path of index.html. The same documents always give the same bytes.
 * Replaces earlier pages only when the new ones are complete.
 */
export async function writeDocs(directory: string, options: Partial<DocsOptions> = {}): Promise<string> {
  const all = { ...docsDefaults, ...options }
  const published = publishedIn(all)
  await mkdir(directory, { recursive: true })
  const temporary = await mkdtemp(join(directory, 'building-'))
  try {
    const built = join(temporary, 'index.html')
    const shown = join(temporary, 'openapi.json')
    const document = parseExactJson(await readFile(published, 'utf8')) as Document
    const page = await withMarks([shownDocument(document, all.client)], async ([marked]) => {
      await writeFile(shown, stringifyJson(marked) as string)
      const options = [
        `--output=${resolve(built)}`,
        `--template=${template}`,
        `--config=${configurationOf(all)}`,
        '--inlineBundle',
        // Without this tag Redoc shows schemas only inside the operations that use them.
        '--openapi.schemaDefinitionsTagName=Schemas',
      ]
      await redocly(['build-docs', resolve(shown), ...options])
      return await readFile(built, 'utf8')
    })
    const script = await browserScript('page-repairs.js', 'page-document.js', 'try-panel.js')
    const html = selfContainedPage(page, script)
    await writeFile(built, html + (await sourceMark(all)))
    const history = join(temporary, 'history.html')
    await writeFile(history, await historyPage(published, all.released))
    await rename(history, join(directory, 'history.html'))
    await copyFile(published, shown)
    await rename(shown, join(directory, 'openapi.json'))
    const index = join(directory, 'index.html')
    await rename(built, index)
    return index
  } finally {
    await rm(temporary, { recursive: true })
  }
}

/** Calls `writeDocs` unless the existing page was built from the same sources. */
export async function writeStaleDocs(directory: string, options: Partial<DocsOptions> = {}): Promise<void> {
  const page = await readFile(join(directory, 'index.html'), 'utf8').catch(() => '')
  if (!page.endsWith(await sourceMark({ ...docsDefaults, ...options }))) await writeDocs(directory, options)
}

/**
 * Writes try.html into a directory. Only the service uses it: a published page has no service to send requests to.
 * Without `serviceUrl` the admin server adds the URL.
 */
export async function writeTryPage(
  directory: string,
  { generated = docsDefaults.generated, serviceUrl }: { generated?: string; serviceUrl?: string } = {},
): Promise<void> {
  await mkdir(directory, { recursive: true })
  const page = join(directory, 'try.html')
  const part = `${page}.${process.pid}`
  await writeFile(
    part,
    await tryPage(parseExactJson(await readFile(publishedIn({ generated }), 'utf8')) as Document, serviceUrl),
  )
  await rename(part, page)
}

const publishedIn = ({ generated }: Pick<DocsOptions, 'generated'>): string => join(generated, 'openapi.json')

/**
 * Returns the last line of a complete page, with a hash of its sources: the documents, this code, the rules of the
 * linter, and the version of Redoc.
 */
async function sourceMark(options: DocsOptions): Promise<string> {
  const code = [import.meta.dirname, join(import.meta.dirname, '..', 'changes')]
  const redoc = createRequire(import.meta.url).resolve('@redocly/cli/package.json')
  const hash = createHash('sha256').update(options.client)
  for (const source of [publishedIn(options), options.released, ...code, configurationOf(options), redoc]) {
    for (const file of await filesOf(source)) hash.update(await readFile(file))
  }
  return `<!-- sha256 of its sources: ${hash.digest('hex')} -->\n`
}

/** Returns the configuration of the project, or one of ours that changes no document. */
function configurationOf({ project = '.' }: DocsOptions): string {
  const own = join(project, 'redocly.yaml')
  return existsSync(own) ? own : styleRules
}

/** Returns the path of a file, or the sorted paths of the files of a directory; none if nothing is there. */
async function filesOf(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return (await readdir(path)).sort().map((name) => join(path, name))
  return found === undefined ? [] : [path]
}

/**
 * Replacements in the script of Redoc 3.0.1. They remove the URLs that it would load, add options, and expand the groups
 * of operations and schemas, which it otherwise shows only after a click.
 */
const replacements: [from: RegExp, to: string][] = [
  [/https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g, 'data:,'],
  [/(?<=return)\[(\w),\w+\(\1\)\]\.some\((\w)=>(\w)===\2\|\|\3\.endsWith\(\2\)\|\|\3\.includes\(\2\+`\/`\)\)/, '!0'],
  [/(?<=\.content===null)\|\|\w&&!\w+\(\w\.gatePath,\w\)/, ''],
  [/(?<=shouldRenderOps:)\w\.sectionId===[^}]*/, '!0'],
  [/(?<=^ *hydrate\()__redoc_definition(?=,)/gm, 'changeDocument(__redoc_definition)'],
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
