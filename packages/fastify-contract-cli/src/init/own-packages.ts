import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { directoriesFrom, manifestIn } from './manifests.ts'

/** A package of this repository for a new project. */
export type OwnPackage = {
  /** What package.json of the project asks for: the versions of a registry, or a file of the project. */
  version: string
  /** The directory to pack into a file of the project, whose path follows. */
  directory?: string
  to?: string
}

/** The directories of the commands and of the engine. */
const own = join(import.meta.dirname, '..', '..')
const engine = join(fileURLToPath(import.meta.resolve('fastify-contract')), '..', '..')

/** Returns the range of Fastify's versions that the engine needs, such as ^5.12.8. */
export const fastifyRange = (): string => manifestIn(engine).dependencies.fastify

/**
 * Returns the engine and the commands for a new project. The registry has them if the commands were installed from it.
 * Otherwise another owner could have taken their names there, so the project carries both packages as files. These are
 * also there in a container, offline, and after the directory of the commands is gone.
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
    engine: packageIn(engine),
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

/** Packs directories of packages into files of a project. */
export async function packInto(project: string, packages: OwnPackage[]): Promise<void> {
  const directories = packages.flatMap(({ directory }) => directory ?? [])
  if (directories.length === 0) return
  const target = resolve(project, 'vendor')
  await mkdir(target, { recursive: true })
  // npm fails to pack a directory in the store of pnpm, so it packs copies.
  const copies = await mkdtemp(join(tmpdir(), 'fastify-contract-'))
  try {
    for (const [index, directory] of directories.entries()) await copyPackage(directory, join(copies, `${index}`))
    const names = directories.map((_, index) => `./${index}`)
    const args = ['pack', '--loglevel=error', '--ignore-scripts', '--pack-destination', target, ...names]
    await promisify(execFile)('npm', args, { cwd: copies })
  } catch (error) {
    throw new Error(
      `init: npm cannot pack ${directories.join(' and ')}; correct the cause\n${(error as Error).message}`,
    )
  } finally {
    await rm(copies, { recursive: true })
  }
}

/** Copies what belongs to a package: with the packages that it bundles, without those that are installed in it. */
async function copyPackage(directory: string, target: string): Promise<void> {
  const { bundleDependencies: bundled = [] } = manifestIn(directory)
  await cp(directory, target, {
    recursive: true,
    filter: (path) => {
      const [first, name] = relative(directory, path).split(sep)
      return first !== 'node_modules' || name === undefined || bundled.includes(name)
    },
  })
}
