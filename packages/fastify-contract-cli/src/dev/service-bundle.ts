import { realpathSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join, resolve, sep } from 'node:path'
import { type BuildContext, context, type Metafile, type Plugin } from 'esbuild'

/** Bundles a service into a directory. Resolves with the installed packages that it imports. */
export type BundleService = (directory: string) => Promise<string[]>

const contractName = 'contract.mjs'

/**
 * Returns a function that bundles the service of an entry with esbuild, which keeps what it has parsed. Packages are
 * left external, and so is the generated contract, of which the directory gets a copy: it may have many megabytes.
 *
 * @param generated The directory of the generated files.
 */
export function serviceBundler(entry: string, generated: string): BundleService {
  const contract = join(generated, contractName)
  const file = basename(entry).replace(/ts$/, 'js')
  let building: Promise<BuildContext> | undefined
  return bundle

  async function bundle(directory: string): Promise<string[]> {
    // The source map has relative paths, which are the same from each directory beside this one.
    building ??= bundleContext(entry, join(directory, file), contract)
    const { outputFiles = [], metafile } = await (await building).rebuild()
    await mkdir(directory, { recursive: true })
    const imported = importsOf(metafile as Metafile)
    await Promise.all([
      ...outputFiles.map(({ path, contents }) => writeFile(join(directory, basename(path)), contents)),
      ...(imported.includes(`./${contractName}`) ? [copyFile(contract, join(directory, contractName))] : []),
    ])
    return imported.filter(isInstalled)
  }
}

function bundleContext(entry: string, outfile: string, contract: string): Promise<BuildContext> {
  return context({
    entryPoints: [entry],
    outfile,
    plugins: [externalModule(resolve(contract))],
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Stack traces name the sources.
    sourcemap: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
}

/** Leaves a module to be imported from the directory of the bundle. */
const externalModule = (path: string): Plugin => ({
  name: 'external-module',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`/${basename(path)}$`) }, (given) =>
      resolve(given.resolveDir, given.path) === path ? { path: `./${basename(path)}`, external: true } : undefined,
    )
  },
})

/** Returns what the bundle imports at its start. */
const importsOf = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ imports }) =>
    imports.filter(({ kind, external }) => kind === 'import-statement' && external).map(({ path }) => path),
  )

/** Returns whether an import is of a package that is installed, unlike a linked one, whose files are edited. */
function isInstalled(specifier: string): boolean {
  const [, name] = /^((?:@[^/]+\/)?[^./@#:][^/:]*)(?:\/|$)/.exec(specifier) ?? []
  const places = name === undefined ? null : createRequire(resolve('package.json')).resolve.paths(specifier)
  return (places ?? []).some((place) =>
    realPath(join(place, name as string))
      .split(sep)
      .includes('node_modules'),
  )
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return ''
  }
}
