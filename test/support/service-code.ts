import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { nodeCommand, runCommand } from 'fastify-contract-test-support/child-process'
import type { Test } from 'tap'
import { cachedBundle } from './bundle-cache.ts'

/** The code of the service under test. */
export type ServiceCode = {
  /** Command that starts the service from any working directory. */
  command: string[]
  /** Command line tool, `plant-store`. */
  tool: string[]
  /** URL of the module that exports the matching openStore, for tests that wrap a store. */
  storeModule: string
  /** Path of the docs page that the service serves. */
  docs: string
}

/** The service run from src, with coverage. */
const sourceCode: ServiceCode = {
  command: nodeCommand(resolve('src/server.ts')),
  tool: nodeCommand(resolve('src/cli/main.ts')),
  storeModule: pathToFileURL('src/store/open.ts').href,
  docs: resolve('dist/docs/index.html'),
}

const deployed = await cachedBundle()

const codeIn = (directory: string): ServiceCode => ({
  command: [process.execPath, join(directory, 'dist', 'server.js')],
  tool: [process.execPath, join(directory, 'dist', 'plant-store.js')],
  storeModule: pathToFileURL(join(directory, 'dist', 'store.js')).href,
  docs: join(directory, 'dist', 'docs', 'index.html'),
})

/** The service as deployed: a bundle, which starts four times as fast as src. */
export const builtCode: ServiceCode = codeIn(deployed)

/** Copies the bundle to a directory that the test may change; removed when the test ends. */
export function copiedCode(t: Test): ServiceCode {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  cpSync(deployed, directory, { recursive: true })
  return codeIn(directory)
}

/** Whether tap measures coverage, which only the service from src has. */
const hasCoverage = process.env.TAP_DISABLE_COVERAGE !== '1'

/** The service from src when coverage is measured, else as deployed. */
export const coveredCode: ServiceCode = hasCoverage ? sourceCode : builtCode

/** Runs a suite on the bundle, which is what ships, and also on the service from src when coverage is measured. */
export function forSourceAndBundle(t: Test, suite: (t: Test, code: ServiceCode) => void): void {
  if (hasCoverage) t.test('the service runs from source', async (t) => suite(t, sourceCode))
  t.test('the service runs as the built bundle', async (t) => suite(t, builtCode))
}

/** Runs the command line tool; kills it when the test ends. */
export const runTool = (t: Test, args: string[], environment: Record<string, string> = {}, cwd?: string) =>
  runCommand(t, [...coveredCode.tool, ...args], environment, cwd)
