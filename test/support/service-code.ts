import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { cachedBundle } from './bundle-cache.ts'
import { nodeCommand } from './child-process.ts'

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

const deployed = await cachedBundle()

const codeIn = (directory: string): ServiceCode => ({
  command: [process.execPath, join(directory, 'dist', 'server.js')],
  storeModule: pathToFileURL(join(directory, 'dist', 'store.js')).href,
  docs: join(directory, 'dist', 'docs', 'index.html'),
})

/** The bundle of the service, which runs as it is deployed, without any loader: it starts in a quarter of the time. */
export const builtCode: ServiceCode = codeIn(deployed)

/** Returns a copy of the bundle in a directory that the test may change; it is removed when the test ends. */
export function copiedCode(t: Test): ServiceCode {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  cpSync(deployed, directory, { recursive: true })
  return codeIn(directory)
}

/** Runs a suite twice: on the service as it is in src, and on the bundle, which is what ships. */
export function forSourceAndBundle(t: Test, suite: (t: Test, code: ServiceCode) => void): void {
  t.test('the service runs from source', async (t) => suite(t, sourceCode))
  t.test('the service runs as the built bundle', async (t) => suite(t, builtCode))
}
