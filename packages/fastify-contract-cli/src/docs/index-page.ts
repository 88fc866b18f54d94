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
 * @param directory The directory in which the pages of each document have a directory, which is its prefix.
 */
export async function writeIndexPage(directory: string, prefixes: string[]): Promise<string> {
  const items: string[] = []
  for (const prefix of prefixes) {
    if (!existsSync(join(directory, prefix, 'index.html'))) continue
    const { info } = parseExactJson(await readFile(join(directory, prefix, 'openapi.json'), 'utf8')) as Document
    const title = htmlText(`${info.title} ${info.version}`)
    items.push(
      `<li><a href=".${prefix}/index.html">${title}</a>, below <code>${prefix}</code>: <a href=".${prefix}/history.html">history</a></li>`,
    )
  }
  await mkdir(directory, { recursive: true })
  const page = join(directory, 'index.html')
  const part = `${page}.${process.pid}`
  await writeFile(part, plainPage('Documentation', ['<ul>', ...items, '</ul>'].join('\n')))
  await rename(part, page)
  return page
}
