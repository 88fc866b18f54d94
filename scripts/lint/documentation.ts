import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { docstringProblems } from './docstrings.ts'
import { linkProblems } from './markdown-links.ts'

/** The maximum number of lines of the README, so that it can be read in one sitting. */
const readmeLines = 150

/** Returns the Markdown pages of a project: those at its top, of its packages, and of their docs directories. */
export const markdownPages = (root: string): string[] =>
  ['', 'docs', join('docs', 'decisions'), 'deploy', 'examples', ...packagePages(root)].flatMap((directory) =>
    filesOf(join(root, directory)).flatMap((name) => (name.endsWith('.md') ? [join(directory, name)] : [])),
  )

/** Returns a message for each problem of a project's links and docstrings, and for a README that is too long. */
export function documentationProblems(root: string): string[] {
  const directories = ['src', 'scripts', ...packagesOf(root).map((directory) => join(directory, 'src'))]
  const modules = directories.flatMap((directory) =>
    filesOf(join(root, directory), true)
      .map((name) => join(directory, name))
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

/** Returns the directories of a project's packages, such as `packages/a`. */
const packagesOf = (root: string): string[] => filesOf(join(root, 'packages')).map((name) => join('packages', name))

/** Returns the directories that have the pages of a project's packages. */
const packagePages = (root: string): string[] =>
  packagesOf(root).flatMap((directory) => [directory, join(directory, 'docs')])

const filesOf = (directory: string, recursive = false): string[] =>
  existsSync(directory) ? readdirSync(directory, { recursive, encoding: 'utf8' }).sort() : []
