import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const fencedCode = /^ *(`{3,}|~{3,}).*?^ *\1/gms
const codeSpan = /(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)/g
const inlineLink = /\]\(\s*(?:<([^>\n]*)>|([^)\s]+))(?:\s+["'][^)]*)?\s*\)/g
const definition = /^ {0,3}\[[^\]\n]+\]:\s*(?:<([^>\n]*)>|(\S+))/gm
const scheme = /^[a-z][a-z\d+.-]*:/i

/** Returns the Markdown pages of a project: those at its top, of its packages, of docs directories, and of the site. */
export const markdownPages = (root: string): string[] =>
  ['', 'docs', join('docs', 'decisions'), 'deploy', 'examples', join('scripts', 'site'), ...packagePages(root)].flatMap(
    (directory) =>
      filesOf(join(root, directory)).flatMap((name) => (name.endsWith('.md') ? [join(directory, name)] : [])),
  )

/** Returns the directories that have the pages of a project's packages. */
const packagePages = (root: string): string[] =>
  filesOf(join(root, 'packages')).flatMap((name) => [join('packages', name), join('packages', name, 'docs')])

const filesOf = (directory: string): string[] => (existsSync(directory) ? readdirSync(directory).sort() : [])

/**
 * Returns a message for each relative link of a Markdown page that leads to no file, or to no heading of a Markdown
 * file.
 *
 * @param root The directory of the project, to which `page` and links that begin with a slash are relative.
 */
export function linkProblems(root: string, page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replace(fencedCode, '').replace(codeSpan, '')
  const targets = [inlineLink, definition].flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ([, bracketed, plain]) => bracketed ?? (plain as string)),
  )
  return targets
    .filter((target) => !scheme.test(target) && !target.startsWith('//'))
    .flatMap((target) => {
      const problem = targetProblem(root, page, target)
      return problem === undefined ? [] : [`${page}: ${target} ${problem}`]
    })
}

function targetProblem(root: string, page: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#').map(decodeURIComponent)
  const isAbsolute = path.startsWith('/')
  const file = path === '' ? join(root, page) : join(root, isAbsolute ? '' : dirname(page), path)
  if (!existsSync(file)) return 'leads to no file; correct the link'
  // GitHub also has anchors for the lines of other files and for the README of a directory. They are not checked.
  if (!anchor || !file.endsWith('.md') || statSync(file).isDirectory()) return undefined
  return anchorsOf(readFileSync(file, 'utf8')).has(anchor) ? undefined : 'leads to no heading; correct the link'
}

/** Returns the anchors that a Markdown page has on GitHub: one for each heading, and those written in HTML. */
function anchorsOf(text: string): Set<string> {
  const prose = text.replace(fencedCode, '')
  const anchors = new Set(Array.from(prose.matchAll(/<\w+ (?:id|name)="([^"]+)"/g), ([, name]) => name as string))
  const seen = new Map<string, number>()
  for (const [, heading = ''] of prose.matchAll(/^ {0,3}#{1,6} +(.*?)(?: +#+)? *$/gm)) {
    const anchor = headingAnchor(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
    const count = seen.get(anchor) ?? 0
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`)
    seen.set(anchor, count + 1)
  }
  return anchors
}

/** Returns the anchor that a heading, without the marks of its links, has on GitHub and on the site. */
export const headingAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
