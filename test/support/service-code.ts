import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { cachedBundle } from './bundle-cache.ts'
import { nodeCommand } from './process.ts'

/** What a test runs as the service. */
export type ServiceCode = {
  /** Starts the service, from any working directory. */
  command: string[]
  /** URL of the module whose openStore goes with it: a store of a test may wrap one of its own. */
  storeModule: string
  /** Path at which it looks for the docs page. */
  docs: string
}

/** The service as it is in src, with the loader and the coverage of the tests. */
export const sourceCode: ServiceCode = {
  command: nodeCommand(resolve('src/server.ts')),
  storeModule: pathToFileURL('src/store/open.ts').href,
  docs: resolve('dist/docs/index.html'),
}

/**
 * Copies the bundle of the service into a directory that is removed when the test ends: other tests build into dist/ at the
 * same time. Returns the bundle, which runs as it is deployed, without any loader.
 */
export async function builtCode(t: Test): Promise<ServiceCode> {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-built-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  for (const name of ['package.json', 'generated/openapi.json', 'generated/routes.json'])
    cpSync(name, join(directory, name))
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'))
  const dist = join(directory, 'dist')
  cpSync(await cachedBundle(), dist, { recursive: true })
  return {
    command: [process.execPath, join(dist, 'server.js')],
    storeModule: pathToFileURL(join(dist, 'store.js')).href,
    docs: join(dist, 'docs', 'index.html'),
  }
}

/** Runs a suite twice: on the service as it is in src, and on the bundle, which is what ships. */
export function forSourceAndBundle(t: Test, suite: (t: Test, code: ServiceCode) => void): void {
  t.test('from source', async (t) => suite(t, sourceCode))
  t.test('as the built bundle', async (t) => suite(t, await builtCode(t)))
}
