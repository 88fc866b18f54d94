import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseExactJson, stringifyJson } from 'fastify-contract/json'
import type { Document } from '../document/openapi-document.ts'
import { browserScript } from './browser-script.ts'
import type { Sampled } from './code-samples.ts'
import { historyPage } from './history-page.ts'
import { redocPage } from './redoc-page.ts'
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
}

/** The default directory of the documentation, which the service shows. */
export const docsDirectory = join('dist', 'docs')

export const docsDefaults = {
  generated: 'generated',
  released: join('openapi', 'released'),
  client: './client.ts',
}

/** Returns the path of a file of Redocly, which contains Redoc. */
const fileOfRedocly = (name: string): string => createRequire(import.meta.url).resolve(`@redocly/cli/${name}`)

/**
 * Writes the documentation of a service into a directory: index.html, which loads nothing, history.html, which compares
 * the released documents, and openapi.json, the document itself. Returns the path of index.html. The same documents always give the same bytes.
 * Replaces earlier pages only when the new ones are complete.
 *
 * @param compiled What the document was compiled to, if the caller has it.
 */
export async function writeDocs(
  directory: string,
  options: Partial<DocsOptions> = {},
  compiled?: Sampled,
): Promise<string> {
  const all = { ...docsDefaults, ...options }
  const published = publishedIn(all)
  await mkdir(directory, { recursive: true })
  const temporary = await mkdtemp(join(directory, 'building-'))
  try {
    const built = join(temporary, 'index.html')
    const shown = join(temporary, 'openapi.json')
    const document = parseExactJson(await readFile(published, 'utf8')) as Document
    const html = redocPage({
      title: document.info.title,
      document: stringifyJson(shownDocument(document, all.client, compiled)) as string,
      redoc: await readFile(fileOfRedocly('lib/chunks/redoc.standalone.js'), 'utf8'),
      ownScript: await browserScript('page-repairs.js', 'page-document.js', 'try-panel.js'),
    })
    await writeFile(built, html + (await sourceMark(all)))
    const history = join(temporary, 'history.html')
    await writeFile(history, await historyPage(published, all.released, compiled?.document))
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
export async function writeStaleDocs(
  directory: string,
  options: Partial<DocsOptions> = {},
  compiled?: Sampled,
): Promise<void> {
  const page = await readFile(join(directory, 'index.html'), 'utf8').catch(() => '')
  if (!page.endsWith(await sourceMark({ ...docsDefaults, ...options }))) await writeDocs(directory, options, compiled)
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
 * Returns the last line of a complete page, with a hash of its sources: the documents, this code, and the
 * version of Redoc.
 */
async function sourceMark(options: DocsOptions): Promise<string> {
  const code = [import.meta.dirname, join(import.meta.dirname, '..', 'changes')]
  const hash = createHash('sha256').update(options.client)
  for (const source of [publishedIn(options), options.released, ...code, fileOfRedocly('package.json')]) {
    for (const file of await filesOf(source)) hash.update(await readFile(file))
  }
  return `<!-- sha256 of its sources: ${hash.digest('hex')} -->\n`
}

/** Returns the path of a file, or the sorted paths of the files of a directory; none if nothing is there. */
async function filesOf(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return (await readdir(path)).sort().map((name) => join(path, name))
  return found === undefined ? [] : [path]
}
