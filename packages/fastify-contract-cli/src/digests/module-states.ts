import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, extname, isAbsolute, join, resolve, sep } from 'node:path'
import type { Loader, OnResolveArgs, OnResolveResult, PluginBuild } from 'esbuild'
import { type FileStates, fileState, noFile, stateOf } from './file-state.ts'

/** The modules of Node.js that read nothing. */
const pureModules =
  /^(?:node:)?(?:assert|buffer|crypto|events|http|path|punycode|querystring|string_decoder|url|util)\b/

/** What npm, pnpm and both kinds of Yarn write into node_modules at each installation: the versions of all packages. */
const installations = ['.package-lock.json', '.pnpm/lock.yaml', '.yarn-integrity', '.yarn-state.yml']

/** The variables with which a module can read more than its code says, such as the environment. */
const unpredictable = ['process', 'globalThis', 'global', 'fetch', 'eval']
const found = 'fastifyContractUnpredictable'

/**
 * Matches what is left of these in a bundle, and an import that is no literal. In the bundles of esbuild, `require` is
 * `__require`, which is also the name of a function that is no import.
 */
const computed = new RegExp(`\\b(?:${found}|import\\(|__require(?! =|\\("|\\(\\) \\{))`)

const loaders: Record<string, Loader> = {
  '.js': 'js',
  '.cjs': 'js',
  '.mjs': 'js',
  '.ts': 'ts',
  '.cts': 'ts',
  '.mts': 'ts',
  '.json': 'json',
}

/**
 * Returns the states of the files that Node.js reads to load modules: their own, those of the modules that they import,
 * and the manifests that decide which these are. A package stands for its manifest and the list of installed packages,
 * unless it is linked. Returns undefined if that does not tell what the modules do, because one of them reads other files,
 * or the environment.
 *
 * @param modules Paths, or the names of packages.
 */
export async function moduleStates(modules: string[], directory = process.cwd()): Promise<FileStates | undefined> {
  const states: FileStates = new Map()
  let isKnown = true
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    stdin: {
      contents: modules.map((path, index) => `export * as m${index} from ${JSON.stringify(path)}\n`).join(''),
      resolveDir: directory,
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
    define: Object.fromEntries(unpredictable.map((name) => [name, found])),
    plugins: [{ name: 'module-states', setup: watchFiles }],
  }).catch(() => ({ outputFiles: undefined }))
  const [bundled] = outputFiles ?? []
  return bundled === undefined || !isKnown || computed.test(bundled.text) ? undefined : states

  function watchFiles(build: PluginBuild): void {
    build.onResolve({ filter: /./ }, resolveModule)
    build.onLoad({ filter: /./, namespace: 'file' }, function readModule({ path }) {
      const contents = readFileSync(path)
      states.set(path, stateOf(contents))
      addAbove(dirname(path), 'package.json')
      addAbove(dirname(path), 'tsconfig.json')
      return { contents, loader: loaders[extname(path)] ?? 'default' }
    })

    async function resolveModule({ path, pluginData, ...place }: OnResolveArgs): Promise<OnResolveResult | undefined> {
      if (pluginData === found) return undefined
      if (isBuiltin(path)) {
        isKnown &&= pureModules.test(path)
        return { path, external: true }
      }
      const { importer, kind, resolveDir } = place
      const resolved = await build.resolve(path, { importer, kind, resolveDir, pluginData: found })
      const isPackage = resolved.path.includes(`${sep}node_modules${sep}`)
      const [name] = /^(?:@[^/]+\/)?[^./#][^/]*/.exec(path) ?? []
      if (path.startsWith('.') || isAbsolute(path)) addCandidates(resolve(resolveDir, path), resolved.path)
      else if (name !== undefined) {
        const isInstalled = addAbove(resolveDir, join('node_modules', name, 'package.json'))
        for (const list of installations) addAbove(resolveDir, join('node_modules', list))
        // An alias of tsconfig.json leads to a file of the project.
        isKnown &&= isInstalled
      }
      return { path: isPackage ? path : resolved.path, external: isPackage, errors: resolved.errors }
    }
  }

  /** Adds the states of the files that may come to be meant by a path that does not name its file in full. */
  function addCandidates(path: string, resolved: string): void {
    if (path === resolved) return
    const stem = path.slice(0, path.length - extname(path).length)
    const candidates = [path, stem, join(path, 'index')].flatMap((each) =>
      ['', '.tsx', '.jsx', ...Object.keys(loaders)].map((extension) => `${each}${extension}`),
    )
    for (const candidate of candidates) states.set(candidate, fileState(candidate))
    // A symbolic link may come to lead to an equal file in another directory, whose imports are others.
    isKnown &&= candidates.includes(resolved)
  }

  /** Adds the states of a name in a directory and those above it, up to the first that exists; returns whether one does. */
  function addAbove(directory: string, name: string): boolean {
    const path = join(directory, name)
    const state = fileState(path)
    states.set(path, state)
    const above = dirname(directory)
    return state !== noFile || (above !== directory && addAbove(above, name))
  }
}
