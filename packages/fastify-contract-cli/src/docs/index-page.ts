import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseExactJson } from 'fastify-contract/json'
import type { Document } from '../document/openapi-document.ts'
import { htmlText } from '../text/foreign-text.ts'
import { plainPage } from './plain-page.ts'

/**
 * Writes the page with links to the documentation of several documents, as far as they have some, and returns its path.
 *
 * @param directory The directory that has a directory with the pages of each document.
 * @param names The names of the documents.
 */
export async function writeIndexPage(directory: string, names: string[]): Promise<string> {
  const items: string[] = []
  for (const name of names) {
    if (!existsSync(join(directory, name, 'index.html'))) continue
    const { info } = parseExactJson(await readFile(join(directory, name, 'openapi.json'), 'utf8')) as Document
    const title = htmlText(`${info.title} ${info.version}`)
    items.push(
      `<li><a href="${name}/index.html">${title}</a>, below <code>/${name}</code>: <a href="${name}/history.html">history</a></li>`,
    )
  }
  await mkdir(directory, { recursive: true })
  const page = join(directory, 'index.html')
  const part = `${page}.${process.pid}`
  await writeFile(part, plainPage('Documentation', ['<ul>', ...items, '</ul>'].join('\n')))
  await rename(part, page)
  return page
}
