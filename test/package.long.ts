import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { type Analysis, checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { transform } from 'esbuild'
import { nodeCommand } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import ts from 'typescript'
import type { createClient } from '../src/client.ts'
import { copyProject } from './support/project-copy.ts'
import { startService } from './support/service-process.ts'
import { sqliteSkipReason } from './support/sqlite.ts'
import { token } from './support/test-app.ts'

const [, documented = ''] = /^```ts\n(.*?)^```$/ms.exec(readFileSync('docs/getting-started.md', 'utf8')) ?? []

/** Modules of consumers, by name. The test compiles them unchanged. */
const consumers = {
  documented,
  typed: `
    import { createClient, type PlantStoreClient } from 'plant-store/client'
    import { conformance } from 'plant-store/conformance'
    import { openStore, type PlantStore } from 'plant-store/store'

    const client: PlantStoreClient = createClient({ baseUrl: '', token: async () => '' })
    const { data, error } = await client.POST('/plants', { body: { id: 1n, name: 'a' } })
    const [name, number]: [string?, number?] = [data?.name, error?.error]
    // @ts-expect-error a plant comes without its id
    data?.id
    // @ts-expect-error an id is a bigint
    await client.POST('/plants', { body: { id: 1, name: 'a' } })
    // @ts-expect-error there is no such path
    await client.POST('/plant', { body: { id: 1n, name: 'a' } })
    for (const run of Object.values(conformance)) await run(() => openStore('memory:'), false)
    // @ts-expect-error a store also has create
    const store: PlantStore = { ready: async () => {}, close: async () => {} }
    export const used = { name, number, store }`,
}

const project = copyProject(t)
for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(name, join(project, name))
// Other files that a working directory may contain.
const surplus = ['dist/docs/notes.txt', 'dist/notes.txt', 'generated/notes.txt', '.env', 'plants.db']
for (const path of surplus) write(join(project, path), '')
await promisify(execFile)('npm', ['pack', '--silent'], { cwd: project })
const { version, dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
const contents = createPackageFromTarballData(readFileSync(join(project, `plant-store-${version}.tgz`)))

// Installs the package and its dependencies outside of the project, so that Node cannot find the project's packages.
const directory = mkdtempSync(join(tmpdir(), 'plant-store-'))
t.teardown(() => rmSync(directory, { recursive: true }))
write(join(directory, 'package.json'), '{"type":"module"}')
for (const [name, text] of Object.entries(consumers)) write(join(directory, `${name}.ts`), text)
for (const path of contents.listFiles()) write(join(directory, path), contents.readFile(path))
for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
  const link = join(directory, 'node_modules', name)
  mkdirSync(dirname(link), { recursive: true })
  symlinkSync(resolve('node_modules', name), link)
}

t.test('the package holds only what a consumer needs', async (t) => {
  const files = contents.listFiles().map((path) => path.slice('/node_modules/plant-store/'.length))
  const bundled = /^dist\/chunks\/[\w-]+\.js$/
  t.same(files.filter((path) => !bundled.test(path)).sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist/client.js',
    'dist/conformance.js',
    'dist/docs/history.html',
    'dist/docs/index.html',
    'dist/docs/try.html',
    'dist/plant-store.js',
    'dist/server.js',
    'dist/store.js',
    'dist/types/generated/api.d.ts',
    'dist/types/packages/fastify-contract/src/client/exact-client.d.ts',
    'dist/types/packages/fastify-contract/src/client/operation-types.d.ts',
    'dist/types/packages/fastify-contract/src/client/request-serialization.d.ts',
    'dist/types/packages/fastify-contract/src/contract/generated-types.d.ts',
    'dist/types/src/client.d.ts',
    'dist/types/src/store/conformance.d.ts',
    'dist/types/src/store/open.d.ts',
    'dist/types/src/store/plant-store.d.ts',
    'package.json',
  ])
})

t.test('the types resolve under every ES module resolution', async (t) => {
  const { problems, entrypoints } = (await checkPackage(contents)) as Analysis
  t.same(Object.keys(entrypoints), ['./client', './store', './conformance'])
  const kinds = problems.map((problem) => `${problem.kind} ${'resolutionKind' in problem && problem.resolutionKind}`)
  // The package has no CommonJS, and the resolution of Node 10 does not read exports.
  t.same(new Set(kinds), new Set(['NoResolution node10', 'CJSResolvesToESM node16-cjs']))
})

const resolutions = {
  node16: { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
  bundler: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
}

for (const [name, resolution] of Object.entries(resolutions))
  t.test(`a consumer compiles under ${name} resolution`, async (t) => {
    const lib = ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts']
    const options = { ...resolution, strict: true, target: ts.ScriptTarget.ES2022, lib, types: [], noEmit: true }
    const program = ts.createProgram(
      Object.keys(consumers).map((name) => join(directory, `${name}.ts`)),
      options,
    )
    const found = ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    t.same(found, [])
  })

t.test('a consumer runs against the packaged server, in Node and with browser APIs only', async (t) => {
  const installed = join(directory, 'node_modules', 'plant-store', 'dist')
  const STORE_URL = sqliteSkipReason ? 'memory:' : `sqlite:${join(directory, 'plants.db')}`
  const command = nodeCommand(join(installed, 'server.js'))
  const { url: baseUrl } = await startService(t, { STORE_URL }, { command })

  write(
    join(directory, 'documented.js'),
    documented.replace('http://127.0.0.1:3000', baseUrl).replace('<ACCESS_TOKEN>', token),
  )
  const { stdout } = await promisify(execFile)(process.execPath, ['documented.js'], { cwd: directory })
  t.equal(stdout, 'Monstera deliciosa\n')

  const client = readFileSync(join(installed, 'client.js'), 'utf8')
  const { code } = await transform(client, { format: 'iife', globalName: 'client' })
  const web = { fetch, Request, Response, Headers, ReadableStream, Blob, FormData }
  const browser = runInNewContext(`${code}; client`, web) as { createClient: typeof createClient }
  const reply = await browser
    .createClient({ baseUrl, token })
    .POST('/plants', { body: { id: -(2n ** 63n), name: 'b' } })
  t.equal(reply.data?.name, 'b')
  t.ok(gzipSync(client).length < 10_000, 'the client is small')
})

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
