import { execFile } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { directoriesFrom } from './package-manager.ts'

/** A package of this repository for a new project. */
export type OwnPackage = {
  /** What package.json of the project asks for: the versions of a registry, or a file of the project. */
  version: string
  /** The directory to pack into a file of the project, whose path follows. */
  directory?: string
  to?: string
}

/** The directory of the commands. */
const own = join(import.meta.dirname, '..', '..')

/**
 * Returns the engine and the commands for a new project. The registry has them if the commands were installed from it.
 * Otherwise somebody else could own their names there, so the project carries both packages as files, which also are
 * there in a container, offline, and after the directory of the commands is gone.
 *
 * @param command The path of the command that runs.
 */
export function ownPackages(command: string): { engine: OwnPackage; commands: OwnPackage } {
  const isPublished = isFromRegistry('fastify-contract-cli', own, command)
  const packageIn = (directory: string): OwnPackage => {
    const { name, version } = manifestIn(directory)
    const to = `vendor/${name}-${version}.tgz`
    return isPublished ? { version: `^${version}` } : { version: `file:${to}`, directory, to }
  }
  return {
    engine: packageIn(join(fileURLToPath(import.meta.resolve('fastify-contract')), '..', '..')),
    commands: packageIn(own),
  }
}

/**
 * Returns whether a package was installed by its version. Looks into each package.json at or above the command, as it was
 * called and where it is: npm runs a link, pnpm 10 a file of a linked directory, pnpm 12 its real path.
 *
 * @param directory The directory of the package.
 */
export function isFromRegistry(name: string, directory: string, command: string): boolean {
  for (const above of [command, realpathSync(command)].flatMap((path) => directoriesFrom(dirname(path)))) {
    const { dependencies, devDependencies } = manifestIn(above)
    const version: string | undefined = { ...dependencies, ...devDependencies }[name]
    // A dependency of a dependency is beside it.
    const places = [join(above, 'node_modules', name), join(above, '..', name)]
    if (version !== undefined && places.some((place) => isSame(place, directory)))
      return /^(catalog:.*|[^:/]*)$/.test(version)
  }
  return false
}

const isSame = (path: string, directory: string): boolean =>
  existsSync(path) && realpathSync(path) === realpathSync(directory)

function manifestIn(directory: string) {
  const path = join(directory, 'package.json')
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}

/** Packs directories of packages into files of a project. */
export async function packInto(project: string, packages: OwnPackage[]): Promise<void> {
  const directories = packages.flatMap(({ directory }) => directory ?? [])
  if (directories.length === 0) return
  const target = join(project, 'vendor')
  await mkdir(target, { recursive: true })
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', target, ...directories]
  await promisify(execFile)('npm', args).catch((error: NodeJS.ErrnoException & { stderr: string }) => {
    throw new Error(`init: npm cannot pack ${directories.join(' and ')} (${error.code}); install npm\n${error.stderr}`)
  })
}
