import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { docstringProblems } from './docstrings.ts'
import { linkProblems } from './markdown-links.ts'

/** The maximum number of lines of the README, so that it can be read in one sitting. */
const readmeLines = 150

/** Returns the Markdown pages of a project: those at its top, of its packages and of the folders of its documentation. */
export const markdownPages = (root: string): string[] =>
  ['', 'docs', join('docs', 'decisions'), 'deploy', 'examples', ...packagePages(root)].flatMap((folder) =>
    filesOf(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? [join(folder, name)] : [])),
  )

/** Returns a message for each problem of a project's links and docstrings, and for a README that is too long. */
export function documentationProblems(root: string): string[] {
  const folders = ['src', 'scripts', ...packagesOf(root).map((folder) => join(folder, 'src'))]
  const modules = folders.flatMap((folder) =>
    filesOf(join(root, folder), true)
      .map((name) => join(folder, name))
      .filter((path) => /(?<!\.d)\.[jt]s$/.test(path)),
  )
  return [
    ...readmeProblems(readFileSync(join(root, 'README.md'), 'utf8')),
    ...markdownPages(root).flatMap((page) => linkProblems(root, page)),
    ...modules.flatMap((path) => docstringProblems(path, readFileSync(join(root, path), 'utf8'))),
  ]
}

/** Returns a message when a README is too long. */
export function readmeProblems(text: string): string[] {
  const lines = text.trimEnd().split('\n').length
  if (lines <= readmeLines) return []
  return [`README.md has ${lines} lines, at most ${readmeLines} are allowed; move details to docs/`]
}

/** Returns the folders of a project's packages, such as `packages/a`. */
const packagesOf = (root: string): string[] => filesOf(join(root, 'packages')).map((name) => join('packages', name))

/** Returns the folders that have the pages of a project's packages. */
const packagePages = (root: string): string[] => packagesOf(root).flatMap((folder) => [folder, join(folder, 'docs')])

const filesOf = (folder: string, recursive = false): string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive, encoding: 'utf8' }).sort() : []
