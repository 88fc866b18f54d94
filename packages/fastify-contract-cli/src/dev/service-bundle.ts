import { realpathSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { type BuildContext, context, type Metafile, type Plugin } from 'esbuild'

/** The path of a generated contract, and that of its copy in the directory of a bundle, with slashes. */
type ContractCopy = { path: string; copy: string }

/** Bundles a service into a directory. Resolves with the installed packages that it imports. */
export type BundleService = (directory: string) => Promise<string[]>

/** The directory with the generated files of a document, and the name of the document if there are several. */
export type BundledDocument = { name?: string | undefined; out: string }

const contractName = 'contract.mjs'

/**
 * Returns a function that bundles the service of an entry with esbuild, which keeps what it has parsed. Packages are
 * left external, and so is each generated contract, of which the directory gets a copy: it may have many megabytes.
 */
export function serviceBundler(entry: string, documents: BundledDocument[]): BundleService {
  const contracts = documents.map(({ name, out }) => ({
    path: join(out, contractName),
    copy: name === undefined ? contractName : `${name}/${contractName}`,
  }))
  const file = basename(entry).replace(/ts$/, 'js')
  let building: Promise<BuildContext> | undefined
  return bundle

  async function bundle(directory: string): Promise<string[]> {
    // The source map has relative paths, which are the same from each directory beside this one.
    building ??= bundleContext(entry, join(directory, file), contracts)
    const { outputFiles = [], metafile } = await (await building).rebuild()
    const imported = importsOf(metafile as Metafile)
    const copies = contracts.filter(({ copy }) => imported.includes(`./${copy}`))
    for (const place of [directory, ...copies.map(({ copy }) => join(directory, dirname(copy)))])
      await mkdir(place, { recursive: true })
    await Promise.all([
      ...outputFiles.map(({ path, contents }) => writeFile(join(directory, basename(path)), contents)),
      ...copies.map(({ path, copy }) => copyFile(path, join(directory, copy))),
    ])
    return imported.filter(isInstalled)
  }
}

function bundleContext(entry: string, outfile: string, contracts: ContractCopy[]): Promise<BuildContext> {
  return context({
    entryPoints: [entry],
    outfile,
    plugins: [externalContracts(new Map(contracts.map(({ path, copy }) => [resolve(path), copy])))],
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

/** Leaves the contracts to be imported from their copies, by their paths, in the directory of the bundle. */
const externalContracts = (copies: Map<string, string>): Plugin => ({
  name: 'external-contracts',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`/${contractName}$`) }, function leave(given) {
      const copy = copies.get(resolve(given.resolveDir, given.path))
      return copy === undefined ? undefined : { path: `./${copy}`, external: true }
    })
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
