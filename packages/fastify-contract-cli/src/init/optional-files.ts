import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { UsageError } from 'fastify-contract/token-command'
import { docsDirectory } from '../docs/source-mark.ts'
import { missingPatterns } from './files/gitignore.ts'
import { directoriesFrom } from './manifests.ts'

/** The page of the documentation. */
export const docsPage = join(docsDirectory, 'index.html')

/** The files that the service does not need, by the name of their part in --without. */
const parts = {
  docker: ['Dockerfile', '.dockerignore'],
  workflow: ['.github/workflows/ci.yaml'],
  agents: ['AGENTS.md'],
  env: ['.env.example'],
  editorconfig: ['.editorconfig'],
  gitignore: ['.gitignore'],
  readme: ['README.md'],
  docs: [docsPage],
}

type Part = keyof typeof parts

const names = Object.keys(parts) as Part[]

/** The names in --without. */
export const partNames = names.join(',')

/** The files that `init` does not write, and a line for each part that it leaves out without being told to. */
export type LeftOut = { files: Set<string>; reasons: string[] }

/**
 * Returns the files to leave out: the parts `excluded`, those with a file that exists, and those that would have no
 * effect in this directory.
 *
 * @param excluded The names in --without.
 * @param settings The file with the settings of the package manager, in the root of a workspace, if there is one.
 * @throws {UsageError} If a name is unknown.
 */
export function leaveOut(excluded: string[], directory: string, settings: string | undefined): LeftOut {
  const unknown = excluded.find((name) => !names.includes(name as Part))
  if (unknown !== undefined)
    throw new UsageError(`init: --without has ${JSON.stringify(unknown)}; expected some of ${partNames}`)
  const files = new Set<string>()
  const reasons: string[] = []
  for (const part of names) {
    const isExcluded = excluded.includes(part)
    const reason = isExcluded ? undefined : reasonAgainst(part, directory, settings)
    if (isExcluded || reason !== undefined) for (const file of parts[part]) files.add(file)
    if (reason !== undefined) reasons.push(`${parts[part].join(', ')}: ${reason}`)
  }
  return { files, reasons }
}

/** Returns why a part is left out; undefined if it is written. */
function reasonAgainst(part: Part, directory: string, settings: string | undefined): string | undefined {
  const found = parts[part].find((name) => existsSync(join(directory, name)))
  if (found !== undefined) {
    const missing = part === 'gitignore' ? missingPatterns(join(directory, found)) : []
    return `${found} exists${missing.length > 0 ? `; add to it: ${missing.join(' ')}` : ''}`
  }
  const root = settings && resolve(dirname(settings))
  if (part === 'docker' && root !== undefined && root !== resolve(directory))
    return `the lock file is in ${root}, the root of the workspace`
  const repository = part === 'workflow' ? repositoryAbove(resolve(directory)) : undefined
  return repository && `GitHub reads the workflows of ${repository}, the root of the repository`
}

/** Returns the root of the Git repository that contains a directory; undefined if there is none, or if it is the root. */
function repositoryAbove(directory: string): string | undefined {
  const root = directoriesFrom(directory).find((above) => existsSync(join(above, '.git')))
  return root === directory ? undefined : root
}
