import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type BuildOptions, build, type Plugin } from 'esbuild'

/** Bundles into a directory what runs: the command, the server with its stores, and the client. */
export async function bundle(directory = 'dist', plugins: Plugin[] = []): Promise<void> {
  await Promise.all([bundleServer(directory, plugins), bundleClient(directory)])
}

/** How the service is bundled: few files start in less time than several hundred. A native package stays a package. */
export const serverBundle = {
  bundle: true,
  minifySyntax: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  alias: { '@seriousme/openapi-schema-validator': './scripts/build/glue-validator.ts' },
  external: ['better-sqlite3', 'pg-native', 'pg-cloudflare'],
  // The CommonJS packages in the bundle ask for their built-in modules with require.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
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
      // The store looks for its thread beside itself.
      'chunks/sqlite-worker': 'src/store/sqlite-worker.ts',
      // And the primary process for its workers.
      'chunks/worker': 'src/process/worker.ts',
    },
    outdir: directory,
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
  })
}

/** Bundles the client into one file that imports nothing: a browser can load it as it is. */
export async function bundleClient(directory: string): Promise<void> {
  await build({
    entryPoints: { client: 'src/client/client.ts' },
    outdir: directory,
    bundle: true,
    minifySyntax: true,
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    logLevel: 'warning',
  })
}
