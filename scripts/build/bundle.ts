import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'

/** Bundles the command, the server with its stores, and the client into a directory. */
export async function bundle(directory = 'dist', plugins: Plugin[] = []): Promise<void> {
  await Promise.all([bundleServer(directory, plugins), bundleClient(directory)])
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
  // The CommonJS packages in the bundle load built-in modules with require.
  banner: { js: "const require = process.getBuiltinModule('module').createRequire(import.meta.url);" },
  logLevel: 'warning',
} satisfies BuildOptions

async function bundleServer(directory: string, plugins: Plugin[]): Promise<void> {
  await rm(join(directory, 'chunks'), { recursive: true, force: true })
  await build({
    ...serverBundle,
    plugins,
    entryPoints: {
      'plant-store': 'src/cli/main.ts',
      server: 'src/server.ts',
      store: 'src/store/open.ts',
      conformance: 'src/store/conformance.ts',
      // The store loads its worker thread from its own directory.
      'chunks/sqlite-worker': 'src/store/sqlite/sqlite-worker.ts',
    },
    outdir: directory,
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
  })
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
