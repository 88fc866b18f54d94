import { existsSync, statSync } from 'node:fs'
import { dirname, join, posix, relative, resolve } from 'node:path'
import { sitePath } from './site-pages.ts'

/** The parts of markdown-it that the rule below uses. */
type Token = {
  type: string
  children: Token[] | null
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
}
type Markdown = {
  core: { ruler: { push(name: string, rule: (state: { tokens: Token[]; env: PageEnvironment }) => void): unknown } }
}

/** What the generator knows of the page that it renders: its file, and its path on the site. */
type PageEnvironment = { realPath: string; relativePath: string }

/** The options of the rule: the root of the repository, its pages relative to that, and the address of its web page. */
export type PageLinkOptions = { root: string; pages: string[]; address: string | undefined }

/**
 * Adds a rule to markdown-it, so that links that work in the repository also work on the site. A link to another page
 * leads to its path on the site. A link to another file leads to the repository's web page, and is plain text if its
 * address is unknown. The generator fails for a link that leads to neither.
 */
export function usePageLinks(markdown: Markdown, options: PageLinkOptions): void {
  markdown.core.ruler.push('page_links', ({ tokens, env }) => {
    // The search index, whose texts have no links, is rendered without it.
    if (env.realPath === undefined) return
    for (const token of tokens)
      if (token.children !== null) token.children = withPageLinks(token.children, env, options)
  })
}

function withPageLinks(tokens: Token[], page: PageEnvironment, options: PageLinkOptions): Token[] {
  let isRemoved = false
  return tokens.filter((token) => {
    if (token.type === 'link_open') {
      const target = siteTarget(token.attrGet('href') as string, page, options)
      isRemoved = target === undefined
      if (target !== undefined) token.attrSet('href', target)
      return !isRemoved
    }
    return token.type !== 'link_close' || !isRemoved
  })
}

/** Returns the target that a link has on the site; undefined if there is none. */
export function siteTarget(href: string, page: PageEnvironment, { root, pages, address }: PageLinkOptions) {
  if (/^(?:[a-z][a-z\d+.-]*:|#|\/\/)/i.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const target = resolve(dirname(page.realPath), decodeURIComponent(path))
  const file = relative(root, target)
  const fragment = anchor === undefined ? '' : `#${anchor}`
  if (pages.includes(file)) return posix.relative(posix.dirname(page.relativePath), sitePath(file)) + fragment
  // The generator reports it.
  if (!existsSync(target)) return href
  if (address === undefined) return undefined
  return `${address}/${statSync(target).isDirectory() ? 'tree' : 'blob'}/HEAD/${join(file)}${fragment}`
}
