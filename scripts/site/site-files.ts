import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { landingPage, type SiteSection, sitePath } from './site-pages.ts'

/**
 * Returns a page with a Content-Security-Policy that allows its own inline scripts by their hashes, and nothing from
 * elsewhere. Styles of the code blocks are inline.
 */
export function withContentPolicy(html: string): string {
  const scripts = Array.from(html.matchAll(/<script(?: id="[\w-]+")?>(.*?)<\/script>/gs), ([, text = '']) => text)
  const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
  const policy = [
    "default-src 'none'",
    ["script-src 'self'", ...new Set(hashes)].join(' '),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ]
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">`
  return html.replace('<meta charset="utf-8">', (charset) => `${charset}\n    ${meta}`)
}

/**
 * Writes what the generator does not: each page as Markdown beside its HTML, llms.txt with a link to each of them,
 * llms-full.txt with the text of all, and the pages of the API. Apart from the links of the first page, the Markdown is
 * that of the repository, because the site has the same directories.
 *
 * @param root The directory of the repository.
 * @param out The directory of the site.
 */
export function writeSiteFiles(root: string, out: string, sections: SiteSection[]): void {
  const pages = [landingPage, ...sections.flatMap(({ pages }) => pages.map(({ file }) => file))]
  const texts = pages.map((file) => markdownOf(root, file))
  for (const [index, file] of pages.entries()) {
    const path = join(out, sitePath(file))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, texts[index] as string)
  }
  // The service has the page that tries operations, because it needs the service.
  const filter = (path: string) => basename(path) !== 'try.html'
  cpSync(join(root, 'dist', 'docs'), join(out, 'api'), { recursive: true, filter })
  for (const name of ['index.html', 'history.html']) linkToSite(join(out, 'api', name))
  writeFileSync(join(out, 'llms.txt'), llmsIndex(texts[0] as string, sections))
  writeFileSync(
    join(out, 'llms-full.txt'),
    pages.map((file, index) => `<!-- ${sitePath(file)} -->\n\n${texts[index]}`).join('\n'),
  )
}

/** Adds a link to the first page of the site to a page of the API. */
function linkToSite(file: string): void {
  const html = readFileSync(file, 'utf8')
  writeFileSync(file, html.replace('aria-label="Pages">', '$&<a href="../index.html">fastify-contract</a>'))
}

/** Returns the Markdown of a page for the site, whose first page is not in the directory of its source. */
function markdownOf(root: string, file: string): string {
  const text = readFileSync(join(root, file), 'utf8')
  return file === landingPage ? text.replace(/^---\n.*?^---\n+/ms, '').replaceAll('](../../', '](') : text
}

/** Returns the text of llms.txt: the title and the first paragraph of the site, and its pages. */
function llmsIndex(landing: string, sections: SiteSection[]): string {
  const [title = '', summary = ''] = landing.split('\n\n')
  const lists = sections.map(({ title, pages }) =>
    [
      `## ${title}`,
      '',
      ...pages.map(({ file, title, content }) => `- [${title}](${file})${content && `: ${content}`}`),
    ].join('\n'),
  )
  const api = '## The API of the plant store\n\n- [OpenAPI document](api/openapi.json)\n- [API page](api/index.html)'
  return [title, `> ${summary.replaceAll('\n', ' ')}`, ...lists, api].join('\n\n').concat('\n')
}
