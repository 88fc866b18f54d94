import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseExactJson, stringifyJson } from 'fastify-contract/json'
import type { Document } from '../document/openapi-document.ts'
import { browserScript } from './browser-script.ts'
import type { Sampled } from './code-samples.ts'
import { historyPage } from './history-page.ts'
import { redocPage } from './redoc-page.ts'
import { shownDocument } from './shown-document.ts'
import { type DocsOptions, docsDefaults, fileOfRedocly, isCurrent, publishedIn, sourceMark } from './source-mark.ts'
import { tryPage } from './try-page.ts'

/**
 * Writes the documentation of a service into a directory: index.html, which loads nothing, history.html, which compares
 * the released documents, and openapi.json, the document itself. The same documents always give the same bytes. Replaces
 * earlier pages only when the new ones are complete. Returns the path of index.html.
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
  if (!(await isCurrent(directory, options))) await writeDocs(directory, options, compiled)
}

/**
 * Writes try.html into a directory. Only the service uses it: a published page has no service to send requests to.
 * Without `serviceUrl` the admin server adds the URL.
 */
export async function writeTryPage(
  directory: string,
  { generated = docsDefaults.generated, serviceUrl }: { generated?: string; serviceUrl?: string | undefined } = {},
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
