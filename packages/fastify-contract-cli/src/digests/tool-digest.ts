import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The directories of the code of both packages, each in the directory of its manifest. The built package holds the code of
 * the engine that it runs, and its manifest lists the packages of both.
 */
const code = [
  join(import.meta.dirname, '..'),
  ...(import.meta.filename.endsWith('.js') ? [] : [dirname(fileURLToPath(import.meta.resolve('fastify-contract')))]),
]

/**
 * Returns a digest of what makes the generated files of a document: the code of this package and of the engine, the
 * versions of the packages that they need, and that of Node.js.
 */
export function toolDigest(directories = code): string {
  const parts = [process.version]
  for (const directory of directories) {
    for (const name of codeIn(directory)) parts.push(name, hash('sha256', readFileSync(join(directory, name))))
    const { dependencies } = JSON.parse(readFileSync(join(directory, '..', 'package.json'), 'utf8'))
    for (const name of Object.keys(dependencies)) parts.push(name, versionOf(name, directory))
  }
  return hash('sha256', JSON.stringify(parts))
}

/** Returns the names of the files of a directory, without declarations, which nothing runs. */
const codeIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.d\.[cm]?ts$|\.map$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1))
    .sort()

/** Returns the version of a package that modules of a directory import. */
function versionOf(name: string, directory: string): string {
  const manifest = join(directory, 'node_modules', name, 'package.json')
  if (existsSync(manifest)) return JSON.parse(readFileSync(manifest, 'utf8')).version
  const above = dirname(directory)
  return above === directory ? 'missing' : versionOf(name, above)
}
