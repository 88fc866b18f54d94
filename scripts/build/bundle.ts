import { readdir, rm } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'

/** Bundles the command, the server with its stores, and the client into a directory. */
export async function bundle(directory = 'dist', plugins: Plugin[] = []): Promise<void> {
  await Promise.all([bundleServer(directory, plugins), bundleClient(directory)])
}

/** Getters of `node:http` that load undici or create an agent. */
const httpGetters = ['CloseEvent', 'MessageEvent', 'WebSocket', 'globalAgent']

/**
 * Replaces imports of `node:http`: as an ECMAScript module, Node reads all of its exports, and the getters cost 18 ms of
 * a start with Node 24 and 33 ms with Node 26. esbuild reports an import of a getter.
 */
const httpModule: Plugin = {
  name: 'node-http',
  setup({ onResolve, onLoad }) {
    const names = Object.keys(http).filter((name) => !httpGetters.includes(name))
    const contents = `export const { ${names} } = process.getBuiltinModule('node:http')`
    onResolve({ filter: /^node:http$/ }, ({ kind, path }) =>
      kind === 'import-statement' ? { path, namespace: httpModule.name } : { external: true },
    )
    onLoad({ filter: /^/, namespace: httpModule.name }, () => ({ contents }))
  },
}

/** The build options of the service. A few files load faster than several hundred. Optional native packages stay external. */
export const serverBundle = {
  bundle: true,
  minifySyntax: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  alias: { '@seriousme/openapi-schema-validator': 'fastify-contract/glue-validator' },
  external: ['pg-native', 'pg-cloudflare'],
  plugins: [httpModule],
  // The CommonJS packages in the bundle load built-in modules with require.
  banner: { js: "const require = process.getBuiltinModule('module').createRequire(import.meta.url);" },
  logLevel: 'warning',
} satisfies BuildOptions

const chunks = { chunkNames: 'chunks/[name]-[hash]', splitting: true } satisfies BuildOptions

async function bundleServer(directory: string, plugins: Plugin[]): Promise<void> {
  await rm(join(directory, 'chunks'), { recursive: true, force: true })
  await build({
    ...serverBundle,
    plugins: [...serverBundle.plugins, ...plugins],
    entryPoints: {
      'plant-store': 'src/cli/main.ts',
      server: 'src/server.ts',
      store: 'src/store/open.ts',
      conformance: 'src/store/conformance.ts',
      // The store loads its worker thread from its own directory.
      'chunks/sqlite-worker': 'src/store/sqlite/sqlite-worker.ts',
    },
    outdir: directory,
    ...chunks,
  })
}

/**
 * Bundles the modules of a package into a directory: one file for each entry point, and chunks for what several need. A
 * chunk has the depth of the folders of the sources, so that `import.meta.dirname` with `..` is the directory of all files
 * in both. Modules in JavaScript are for other programs, such as browsers: each becomes a file of its own.
 *
 * @param folder The directory of the package.
 */
export async function bundleModules(
  folder: string,
  directory: string,
  { entryPoints, external }: { entryPoints: string[]; external: string[] },
): Promise<void> {
  const { bundle, platform, target, format, plugins, logLevel } = serverBundle
  const outbase = join(folder, 'src')
  const options = { bundle, platform, target, format, plugins, logLevel, external, outbase, outdir: directory }
  const scripts = (await readdir(outbase, { recursive: true })).filter((path) => path.endsWith('.js'))
  const modules = new Set(entryPoints.map((path) => join(folder, path)))
  await Promise.all([
    build({ ...options, ...chunks, entryPoints: [...modules] }),
    build({ ...options, entryPoints: scripts.map((path) => join(outbase, path)) }),
  ])
}

/** Bundles the client into one file without imports, which a browser can load directly. */
export async function bundleClient(directory: string): Promise<void> {
  await build({
    entryPoints: { client: 'src/client.ts' },
    outdir: directory,
    bundle: true,
    minifySyntax: true,
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    logLevel: 'warning',
  })
}
