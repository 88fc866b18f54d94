import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  addedDocument,
  applications,
  linesBelow,
  operationResponses,
  paste,
} from 'fastify-contract-test-support/added-operations'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import { pageToken, programEnvironment, untilHealthy } from 'fastify-contract-test-support/migration-page'
import t, { type Test } from 'tap'
import { env, packPackages, run } from './support/packed-packages.ts'

// An empty folder outside of the repository, so that Node cannot find the sources of the packages.
const directory = mkdtempSync(join(tmpdir(), 'into-'))
t.teardown(() => rmSync(directory, { recursive: true }))

/** Installs the packages in a folder of their own, which is not the application. */
async function installCommands(): Promise<string> {
  const folder = join(directory, 'commands')
  const packed = await packPackages(directory)
  const dependencies = Object.fromEntries(Array.from(packed, ([name, file]) => [name, `file:${file}`]))
  write(folder, { 'package.json': JSON.stringify({ private: true, dependencies }) })
  await run(folder, 'npm', 'install', '--ignore-scripts')
  return join(folder, 'node_modules', '.bin', 'fastify-contract')
}

function write(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

const command = await installCommands()
const compilerOptions = { module: 'NodeNext', target: 'ES2022', strict: true, skipLibCheck: true, types: ['node'] }
const dependencies = { fastify: '^5.12.8' }
const devDependencies = { typescript: '^5.9.3', '@types/node': '^20.19.43' }
const manifest = (type?: string) => JSON.stringify({ type, dependencies, devDependencies })

/** Creates an application, adds the operations to it, and does what `init` prints. */
async function add(name: string, files: Record<string, string>, entry: string): Promise<string> {
  const folder = join(directory, name)
  write(folder, { 'openapi.yaml': addedDocument, ...files })
  const first = join(directory, 'typescript')
  if (folder === first) await run(folder, 'npm', 'install', '--ignore-scripts')
  const printed = await run(folder, command, 'init', 'openapi.yaml', '--into', '.')
  if (folder === first)
    for (const line of linesBelow(printed, 'Next')) await run(folder, 'bash', '-c', `${line} --ignore-scripts`)
  // One installation is enough: the others have the same packages.
  else symlinkSync(join(first, 'node_modules'), join(folder, 'node_modules'))
  paste(join(folder, entry), linesBelow(printed, `Add to ${entry}`))
  const [scripts = '', settings = ''] = linesBelow(printed, 'Add to package.json')
  const path = join(folder, 'package.json')
  const members = JSON.parse(`{ ${scripts} ${settings} }`)
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...members }))
  t.match(await run(folder, 'npm', 'run', 'generate'), /^up to date$/m, `${name}: generate finds its files`)
  return folder
}

/** Asserts that the application serves its own route, and the operation for a valid token only. */
async function assertServed(t: Test, folder: string, module: string): Promise<void> {
  const { environment, url } = await programEnvironment()
  const program = spawnProcess([process.execPath, module], {
    cwd: folder,
    env: { ...env, ...environment, ACCESS_TOKENS: pageToken },
  })
  t.teardown(() => program.signal('SIGKILL'))
  await untilHealthy(
    url,
    () => program.child.exitCode !== null,
    () => program.output.stderr,
  )
  t.match(await operationResponses(url), [
    [200, '{"id":7}'],
    [401, /^\{"message":"/],
  ])
}

const tsc = (folder: string) => run(folder, join(folder, 'node_modules', '.bin', 'tsc'))

t.test('an application in TypeScript compiles, and its JavaScript serves the operations', async (t) => {
  const files = {
    'package.json': manifest('module'),
    'tsconfig.json': JSON.stringify({
      compilerOptions: { ...compilerOptions, rootDir: 'src', outDir: 'dist' },
      include: ['src'],
    }),
    'src/server.ts': applications.esm,
  }
  const folder = await add('typescript', files, 'src/server.ts')
  t.equal(await tsc(folder), '')
  await assertServed(t, folder, 'dist/server.js')
})

t.test('an application in JavaScript modules serves the operations, whose comments have the types', async (t) => {
  const options = { ...compilerOptions, allowJs: true, checkJs: true, noEmit: true }
  const files = { 'package.json': manifest('module'), 'src/app.js': applications.esm }
  const folder = await add('javascript', files, 'src/app.js')
  write(folder, { 'tsconfig.json': JSON.stringify({ compilerOptions: options, include: ['src'] }) })
  t.equal(await tsc(folder), '')
  await assertServed(t, folder, 'src/app.js')
})

t.test('an application in CommonJS serves the operations by import() and by require()', async (t) => {
  const folder = await add('commonjs', { 'package.json': manifest(), 'index.js': applications.commonJs }, 'index.js')
  await assertServed(t, folder, 'index.js')
  const text = readFileSync(join(folder, 'index.js'), 'utf8')
  t.match(text, "app.register(import('./contract/plugin.mjs'))")
  write(folder, { 'required.js': text.replace('import(', 'require(') })
  await assertServed(t, folder, 'required.js')
  const awaited =
    "import('./contract/plugin.mjs').then((module) => start(module.default))\nfunction start(contractRoutes) {\n"
  const inFunction = text
    .replace("import('./contract/plugin.mjs')", 'contractRoutes')
    .replace(/^const app/m, `${awaited}const app`)
  write(folder, { 'awaited.js': `${inFunction}}\n` })
  await assertServed(t, folder, 'awaited.js')
})
