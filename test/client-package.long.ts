import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { type Analysis, checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import t from 'tap'
import { writeClientPackage } from '../scripts/build/client-package.ts'
import { open } from './support/browser.ts'
import { browserSkipReason, chromium } from './support/chromium.ts'
import { startService } from './support/service-process.ts'
import { token } from './support/test-app.ts'

const run = promisify(execFile)

// Installs outside of the project, so that Node cannot find the project's packages.
const directory = mkdtempSync(join(tmpdir(), 'plant-store-client-'))
t.teardown(() => rmSync(directory, { recursive: true }))
const source = join(directory, 'source')
await writeClientPackage(source)
const packed = JSON.parse(
  (await run('npm', ['pack', '--json', '--pack-destination', directory], { cwd: source })).stdout,
)
const [{ filename, size, files }] = packed as [{ filename: string; size: number; files: { path: string }[] }]
const consumer = join(directory, 'consumer')

const readme = readFileSync(join(source, 'README.md'), 'utf8')
const [, example = ''] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? []

t.test('the client package holds one file, its types and no dependencies', async (t) => {
  t.same(files.map(({ path }) => path).sort(), [
    'LICENSE',
    'README.md',
    'client.js',
    'package.json',
    'types/generated/api.d.ts',
    'types/packages/fastify-contract/src/client/exact-client.d.ts',
    'types/packages/fastify-contract/src/client/operation-types.d.ts',
    'types/packages/fastify-contract/src/client/request-serialization.d.ts',
    'types/packages/fastify-contract/src/contract/generated-types.d.ts',
    'types/src/client.d.ts',
  ])
  // Leaves out the types of the contract, which grow with the contract.
  t.ok(size - gzipSync(readFileSync('generated/api.d.ts')).length < 14_000, `the package is small: ${size} bytes`)
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  t.same(
    Object.keys(manifest).filter((key) => /dependencies|scripts/i.test(key)),
    [],
  )
  t.equal(manifest.version, JSON.parse(readFileSync('package.json', 'utf8')).version)
  t.notMatch(readFileSync(join(source, 'client.js'), 'utf8'), /^import|\bimport\(|require\(/m)
  t.notMatch(readme, /plant-store\/client|npm (run|pack)/, 'the README names this package only')
})

t.test("the client's types resolve under every ES module resolution", async (t) => {
  const contents = createPackageFromTarballData(readFileSync(join(directory, filename)))
  const { problems } = (await checkPackage(contents)) as Analysis
  const kinds = problems.map((problem) => `${problem.kind} ${'resolutionKind' in problem && problem.resolutionKind}`)
  t.same(new Set(kinds), new Set(['NoResolution node10', 'CJSResolvesToESM node16-cjs']))
})

t.test('the client package installs offline, compiles and runs', async (t) => {
  const { url } = await startService(t)
  const program = example.replace('http://127.0.0.1:3000', url).replace('<ACCESS_TOKEN>', token)
  const typed = `
    import { createClient, type PlantStoreClient } from 'plant-store-client'
    const client: PlantStoreClient = createClient({ baseUrl: '', token: async () => '' })
    const outcome = await client.POST('/plants', { body: { id: 1n, name: 'a', tag: 'b' } })
    export const name: string = outcome.status === 200 ? outcome.data.name : outcome.error.message
    // @ts-expect-error an id is a bigint
    await client.POST('/plants', { body: { id: 1, name: 'a' } })`
  const options = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    lib: ['es2022', 'dom'],
    types: [],
    noEmit: true,
  }
  const texts = {
    'package.json': '{"type":"module"}',
    'program.ts': program,
    'typed.ts': typed,
    'program.js': program,
    'tsconfig.json': JSON.stringify({ compilerOptions: options, include: ['*.ts'] }),
  }
  mkdirSync(consumer)
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(consumer, name), text)
  const install = ['install', '--offline', '--no-audit', '--no-fund', '--silent', join(directory, filename)]
  await run('npm', install, { cwd: consumer, env: { ...process.env, npm_config_cache: join(directory, 'cache') } })
  await run(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '--project', consumer], { cwd: consumer })
  t.equal((await run(process.execPath, ['program.js'], { cwd: consumer })).stdout, 'Monstera deliciosa\n')
})

t.test('the client runs in a browser page of an allowed origin', { skip: browserSkipReason }, async (t) => {
  const client = readFileSync(join(source, 'client.js'))
  const pages = createServer(({ url }, response) => {
    const isClient = url === '/client.js'
    response.setHeader('content-type', isClient ? 'text/javascript' : 'text/html')
    response.end(isClient ? client : '<title>plants</title>')
  })
  await once(pages.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    pages.close()
    pages.closeAllConnections()
  })
  const { port } = pages.address() as AddressInfo
  const allowed = `http://127.0.0.1:${port}`
  const service = await startService(t, { CORS_ORIGINS: `https://app.example,${allowed}` })

  /** Returns a script that calls the service in the page. It returns JSON text, which cannot hold a bigint. */
  const calls = (origin: string) => `(async () => {
    const { createClient } = await import('${origin}/client.js')
    const create = async (token, id, name) => {
      const client = createClient({ baseUrl: '${service.url}', token })
      const { status, data, error, response } = await client.POST('/plants', { body: { id, name } })
      const read = ['x-request-id', 'www-authenticate'].map((name) => response.headers.get(name))
      return [status, data ?? error, read[0]?.length > 0, read[1]]
    }
    const outcomes = []
    for (const [token, id, name] of [
      ['${token}', 9007199254740993n, 'Monstera'],
      ['${token}', 9007199254740993n, 'Ficus'],
      ['${token}', 9007199254740993n, 7],
      ['wrong', 1n, 'Monstera'],
    ]) outcomes.push(await create(token, id, name).catch((error) => String(error)))
    return JSON.stringify(outcomes)
  })()`

  const page = await open(t, chromium, `${allowed}/`, 800)
  t.same(JSON.parse(await page.evaluate(calls(allowed))), [
    [200, { name: 'Monstera' }, true, null],
    [409, { error: 40900, message: 'id 9007199254740993 belongs to another plant' }, true, null],
    [400, { error: 40003, message: 'body/name must be string' }, true, null],
    [
      401,
      { error: 40101, message: 'the access token is not valid' },
      true,
      'Bearer realm="plant-store", error="invalid_token"',
    ],
  ])
  const other = `http://localhost:${port}`
  const foreign = await open(t, chromium, `${other}/`, 800)
  const outcomes: unknown[] = JSON.parse(await foreign.evaluate(calls(other)))
  t.same(outcomes, Array(4).fill('TypeError: Failed to fetch'), 'a page of another origin reads no response')
})
