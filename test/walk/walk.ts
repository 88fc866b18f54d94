import assert from 'node:assert/strict'
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine } from '../../scripts/system/command-line.ts'
import { spawnService } from '../support/service-process.ts'
import { copyProjectTree } from './walk-project.ts'

const { options } = commandLine(
  `.ci/nightly walk [--without-tests] [--keep]

Makes changes of a maintainer in a copy of the project: it renames a property in the document, and expects the compiler
to report each file that uses it; it splits the document into several files; and it adds the operation of
examples/get-plant.patch. After each of the last two, it generates, compiles and builds the copy, runs tests, and calls
the service on two stores. At the end it runs all tests but those of the pages, unless --without-tests is given. Exits
with 1 at the first failure. The copy is kept after a failure, and with --keep.
`,
  { 'without-tests': false, keep: false },
)

const document = 'openapi/plant-store.yaml'
/** Files that use the property `tag` of the contract by its type. */
const usesOfTag = ['src/cli/plant-line.ts', 'src/handlers.ts', 'test/cli/plants.test.ts']
/** Tests of the contract and of the stores. */
const tests = [
  'test/serve/on-route.test.ts',
  'test/contract/property/generated-requests.test.ts',
  'test/handlers.test.ts',
  'test/store/open.test.ts',
  'test/store/sqlite.test.ts',
  'test/scripts/mock.test.ts',
]

const project = copyProjectTree()
try {
  await step('a renamed property', renameProperty)
  await step('the document in several files', splitDocument)
  await step('a new operation', addOperation)
  // The pages describe the document of this project; a maintainer would change them, too.
  if (!options['without-tests']) await step('the other tests', () => test('--exclude=test/documentation.test.ts'))
  if (!options.keep) project.remove()
} catch (error) {
  process.stderr.write(`walk failed in ${project.directory}\n${(error as Error).message}\n`)
  process.exitCode = 1
}

async function step(name: string, run: () => Promise<unknown>): Promise<void> {
  const start = performance.now()
  await run()
  process.stdout.write(`${name}: ${((performance.now() - start) / 1000).toFixed(0)} s\n`)
}

/** Renames a property in the document alone, and compares the files in which the compiler then reports errors. */
async function renameProperty(): Promise<void> {
  edit(/\btag:/g, 'category:')
  await project.node('packages/fastify-contract-cli/src/cli.ts', 'generate')
  const errors = await project.node('node_modules/typescript/bin/tsc').catch((error: Error) => error.message)
  const files = new Set(Array.from(errors?.matchAll(/^(\S+)\(\d+,\d+\): error/gm) ?? [], ([, file]) => file))
  assert.deepEqual([...files].sort(), usesOfTag)
  restoreDocument()
}

/** Splits the document into one file for each path and component. The root file keeps its name. */
async function splitDocument(): Promise<void> {
  const parts = join(project.directory, 'parts')
  await project.run(process.execPath, 'node_modules/@redocly/cli/bin/cli.js', 'split', document, '--outDir=parts')
  renameSync(join(parts, 'openapi.yaml'), join(project.directory, document))
  cpSync(parts, join(project.directory, 'openapi'), { recursive: true })
  rmSync(parts, { recursive: true })
  await verify({})
  restoreDocument()
}

async function addOperation(): Promise<void> {
  await project.run('git', 'apply', 'examples/get-plant.patch')
  edit(/^ {2}version: 1\.0\.0$/m, '  version: 1.1.0')
  await verify({ 'GET /plants/7': /^200 \{"name":"a","tag":""\}$/, 'GET /plants/8': /^404 /, 'GET /plants/x': /^400 / })
}

/** Generates, compiles, tests and builds the copy, and makes these calls after one that creates plant 7. */
async function verify(calls: Record<string, RegExp>): Promise<void> {
  await project.node('packages/fastify-contract-cli/src/cli.ts', 'generate')
  await project.node('packages/fastify-contract-cli/src/cli.ts', 'changes')
  await project.node('node_modules/typescript/bin/tsc')
  await test(...tests)
  await project.node('scripts/build.ts')
  for (const store of ['memory:', 'sqlite:data/walk.db']) await callService(store, calls)
}

async function callService(storeUrl: string, calls: Record<string, RegExp>): Promise<void> {
  rmSync(join(project.directory, 'data'), { recursive: true, force: true })
  const command = [process.execPath, join(project.directory, 'dist', 'server.js')]
  const environment = { STORE_URL: storeUrl, LOG_LEVEL: 'warn', ACCESS_TOKENS: '' }
  const service = await spawnService(environment, { command, cwd: project.directory }).serving()
  try {
    const headers = { authorization: `Bearer ${await service.generatedToken()}` }
    const call = async (method: string, target: string, body?: string) => {
      const { status, body: text } = await service.call(method, target, { headers, ...(body && { body }) })
      return `${status} ${text}`
    }
    assert.equal(await call('POST', '/plants', '{"id":7,"name":"a","tag":""}'), '200 {"name":"a","tag":""}')
    for (const [request, wanted] of Object.entries(calls)) {
      const [method = '', target = ''] = request.split(' ')
      assert.match(await call(method, target), wanted, `${request} on ${storeUrl}`)
    }
  } finally {
    await service.stop()
  }
}

/** Runs tests of the copy, with files and options of tap as arguments. */
async function test(...args: string[]): Promise<void> {
  await project.run(process.execPath, 'node_modules/tap/dist/esm/run.mjs', '--reporter=terse', ...args)
}

function restoreDocument(): void {
  const directory = join(project.directory, 'openapi')
  rmSync(directory, { recursive: true })
  cpSync('openapi', directory, { recursive: true })
}

/** Replaces text of the document; throws when there is none to replace. */
function edit(from: RegExp, to: string): void {
  const path = join(project.directory, document)
  const before = readFileSync(path, 'utf8')
  assert.match(before, from)
  writeFileSync(path, before.replace(from, to))
}
