import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { markdownPages } from '../lint/markdown-links.ts'

/** A page of the site: its file, relative to the root of the repository, and its title and content in the index. */
export type SitePage = { file: string; title: string; content: string }

/** A part of the navigation: the page with the index, and the pages that it lists. */
export type SiteSection = { title: string; pages: SitePage[] }

/** The first page. The Markdown of its links is relative to this file, as in the repository. */
export const landingPage = 'scripts/site/index.md'

/**
 * The pages with an index, in the order of the navigation: a table or a list whose rows begin with a link. A page that no
 * index lists belongs to the one with the longest beginning of its path.
 */
const indexes = [
  { title: 'The engine', file: 'packages/fastify-contract/README.md', below: 'packages/fastify-contract/' },
  { title: 'The commands', file: 'packages/fastify-contract-cli/README.md', below: 'packages/' },
  { title: 'The plant store', file: 'README.md', below: '' },
  { title: 'Decisions', file: 'docs/decisions/README.md', below: 'docs/decisions/' },
]

/**
 * Returns the sections of the site: each index with the pages that it lists, in its order and with its words, then the
 * pages that belong to it without a row.
 *
 * @param root The directory of the repository.
 */
export function siteSections(root: string): SiteSection[] {
  const files = markdownPages(root).filter((file) => file !== landingPage)
  const listed = indexes.map(({ file }) => listedPages(root, file).filter((page) => files.includes(page.file)))
  const placed = new Set([...indexes, ...listed.flat()].map(({ file }) => file))
  const others = files.filter((file) => !placed.has(file))
  return indexes.map(({ title, file }, index) => ({
    title,
    pages: [
      { file, title: titleOf(root, file), content: '' },
      ...(listed[index] as SitePage[]),
      ...others
        .filter((other) => nearestIndex(other) === file)
        .map((other) => ({ file: other, title: titleOf(root, other), content: '' })),
    ],
  }))
}

/** Returns the pages that the rows of an index link to, apart from other indexes. */
function listedPages(root: string, index: string): SitePage[] {
  const rows = readFileSync(join(root, index), 'utf8').matchAll(
    /^(?:\| |- )\[(.+?)\]\(([^)#]+\.md)\)(?: \||:) ?([^|\n]*)/gm,
  )
  return Array.from(rows, ([, title = '', link = '', content = '']) => ({
    file: join(dirname(index), link),
    title: plainText(title),
    content: plainText(content),
  })).filter(({ file }) => !indexes.some((other) => other.file === file))
}

/** Returns the index that a page without a row in any of them belongs to. */
const nearestIndex = (page: string): string | undefined =>
  indexes
    .filter(({ below }) => page.startsWith(below))
    .toSorted((one, another) => another.below.length - one.below.length)[0]?.file

const titleOf = (root: string, file: string): string =>
  plainText(/^# (.*)$/m.exec(readFileSync(join(root, file), 'utf8'))?.[1] ?? file)

const plainText = (markdown: string): string =>
  markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .trim()

/** Returns the path of a page on the site, without its directory and the extension of its HTML. */
export const sitePath = (file: string): string => (file === landingPage ? 'index.md' : file)
