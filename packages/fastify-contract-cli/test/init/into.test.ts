import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  addedDocument,
  applications,
  linesBelow,
  operationResponses,
  paste,
} from 'fastify-contract-test-support/added-operations'
import { nodeCommand, runCommand } from 'fastify-contract-test-support/child-process'
import { diagnose } from 'fastify-contract-test-support/compiler'
import { pageToken, programEnvironment, untilHealthy } from 'fastify-contract-test-support/migration-page'
import t, { type Test } from 'tap'
import { run } from '../../src/cli/init.ts'
import { isOlder } from '../../src/init/existing-application.ts'
import { enterDirectory } from '../support/enter-directory.ts'

const manifest = (type?: string) => JSON.stringify({ type, dependencies: { fastify: '^5.12.8' } })

const options = { module: 'NodeNext', target: 'ES2022', strict: true, skipLibCheck: true, outDir: 'dist' }
const tsconfig = (more = {}) => JSON.stringify({ compilerOptions: { ...options, ...more } })

/** Adds the operations to an application in the current directory, and returns what init prints. */
async function addTo(t: Test, files: Record<string, string>): Promise<string> {
  const directory = enterDirectory(t, {})
  for (const [path, text] of Object.entries({ 'openapi.yaml': addedDocument, ...files })) {
    mkdirSync(join(directory, path, '..'), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const printed = t.capture(console, 'log')
  await run(['openapi.yaml', '--into', '.'])
  for (const [path, text] of Object.entries(files)) t.equal(readFileSync(path, 'utf8'), text, `${path} is unchanged`)
  return printed()
    .flatMap(({ args }) => args)
    .join('\n')
}

/** Returns what the compiler finds. Its cache knows files by their path, so that is absolute. */
const compile = (modules: string[], more = {}) =>
  diagnose(
    modules.map((module) => resolve(module)),
    {},
    more,
  )

/** Starts the application and asserts that it serves its own route, and the operation for a valid token only. */
async function assertServed(t: Test, path: string): Promise<void> {
  const { environment, url } = await programEnvironment()
  const { child, output } = runCommand(t, nodeCommand(path), { ...environment, ACCESS_TOKENS: pageToken })
  await untilHealthy(
    url,
    () => child.exitCode !== null,
    () => output.stderr,
  )
  t.match(await operationResponses(url), [
    [200, '{"id":7}'],
    [401, /^\{"message":"/],
  ])
}

t.test('an application in TypeScript compiles and serves the operations with the printed lines', async (t) => {
  const files = { 'package.json': manifest('module'), 'tsconfig.json': tsconfig(), 'src/server.ts': applications.esm }
  const printed = await addTo(t, files)
  t.same(linesBelow(printed, 'Add to src/server.ts'), [
    "import contractRoutes from './contract/plugin.js'",
    'server.register(contractRoutes)',
  ])
  t.same(linesBelow(printed, 'Add to package.json'), [
    '"scripts": {"generate":"fastify-contract generate --errors src/contract/error-body.ts --handlers src/contract/handlers.ts"},',
    '"fastify-contract": {"document":"openapi.yaml"}',
  ])
  t.match(linesBelow(printed, 'Next'), [
    /^npm install fastify-contract@/,
    /^npm install --save-dev fastify-contract-cli@/,
  ])
  t.same(readdirSync('src/contract'), [
    'contract.test.ts',
    'error-body.ts',
    'handlers.ts',
    'plugin.ts',
    'verify-token.ts',
  ])
  paste('src/server.ts', linesBelow(printed, 'Add to src/server.ts'))
  const modules = ['src/server.ts', ...readdirSync('src/contract').map((name) => join('src/contract', name))]
  t.same(compile(modules, { allowImportingTsExtensions: false }), [])
})

t.test('an application whose modules are imported as TypeScript serves the operations', async (t) => {
  const own = tsconfig({ allowImportingTsExtensions: true, noEmit: true })
  const files = { 'package.json': manifest('module'), 'tsconfig.json': own, 'app.ts': applications.esm }
  const printed = await addTo(t, files)
  const lines = linesBelow(printed, 'Add to app.ts')
  t.equal(lines[0], "import contractRoutes from './contract/plugin.ts'")
  paste('app.ts', lines)
  t.same(compile(['app.ts', 'contract/handlers.ts', 'contract/error-body.ts']), [])
  await assertServed(t, 'app.ts')
})

t.test('an application in JavaScript modules serves the operations', async (t) => {
  const printed = await addTo(t, { 'package.json': manifest('module'), 'src/app.js': applications.esm })
  paste('src/app.js', linesBelow(printed, 'Add to src/app.js'))
  t.same(readdirSync('src/contract'), [
    'contract.test.js',
    'error-body.js',
    'handlers.js',
    'plugin.js',
    'verify-token.js',
  ])
  await assertServed(t, 'src/app.js')
})

t.test('an application in CommonJS serves the operations', async (t) => {
  const printed = await addTo(t, { 'package.json': manifest(), 'index.js': applications.commonJs })
  const lines = linesBelow(printed, 'Add to index.js')
  t.same(lines, ["app.register(import('./contract/plugin.mjs'))"])
  paste('index.js', lines)
  t.same(readdirSync('contract'), [
    'contract.test.mjs',
    'error-body.mjs',
    'handlers.mjs',
    'plugin.mjs',
    'verify-token.mjs',
  ])
  await assertServed(t, 'index.js')
})

t.test('init names what the compiler options and the build of an application lack', async (t) => {
  const old = { module: 'ESNext', moduleResolution: 'Node', target: 'ES2018', strict: false, outDir: 'dist' }
  const printed = await addTo(t, {
    'package.json': manifest('module'),
    'tsconfig.json': tsconfig(old),
    'main.ts': applications.esm,
  })
  t.match(linesBelow(printed, 'Change in tsconfig.json'), [
    /^"target": "ES2022"/,
    /^"module": "NodeNext"/,
    /^"strict": true/,
  ])
  t.match(printed, /^After each build, copy generated\/ into \S*dist\.$/m)
})

t.test('init says where there is no known module, and installs only what is missing', async (t) => {
  const dependencies = { fastify: '5.4.0', 'fastify-contract': '^0.1.0' }
  const text = JSON.stringify({ type: 'module', dependencies, devDependencies: { 'fastify-contract-cli': '^0.1.0' } })
  const open = addedDocument.replace('security: [{ bearer: [] }]', 'security: []')
  const files = { 'package.json': text, 'src/boot.js': '', 'tsconfig.json': tsconfig(), 'openapi.yaml': open }
  const installed = { 'node_modules/fastify/package.json': '{ "version": "5.4.0" }' }
  const printed = await addTo(t, { ...files, ...installed })
  t.match(linesBelow(printed, 'Next'), [/^npm install fastify@5$/])
  t.match(printed, /^The Fastify of the application, 5\.4\.0, is too old\.$/m)
  t.same(linesBelow(printed, 'Add where the application is created'), [
    "import contractRoutes from './contract/plugin.js'",
    'app.register(contractRoutes)',
  ])
  t.notMatch(printed, 'ACCESS_TOKENS')
  t.match(readFileSync('src/contract/plugin.ts', 'utf8'), '    verifiers: {},\n')
})

t.test('init --into writes nothing where it cannot add a plugin', async (t) => {
  const files = {
    'openapi.yaml': addedDocument,
    'package.json': manifest('module'),
    'app.js': applications.esm,
    generated: {},
  }
  const directory = enterDirectory(t, files)
  const into = (...more: string[]) => run(['openapi.yaml', '--into', '.', ...more])
  const message = 'init: --into needs DOCUMENT, and no DIRECTORY, --sample, --install and --without'
  for (const more of ['elsewhere', '--install', '--without=agents']) await t.rejects(into(more), { message })
  const before = readdirSync(directory, { recursive: true }).length
  mkdirSync('contract')
  writeFileSync('contract/plugin.js', 'mine')
  await t.rejects(into(), {
    message: 'init: nothing is written, since contract/plugin.js already exists; move it away, or leave out --into',
  })
  writeFileSync(
    'openapi.yaml',
    addedDocument.replace('      responses:', '      requestBody: { content: { text/plain: {} } }\n      responses:'),
  )
  await t.rejects(into(), { message: /^init: a plugin cannot serve getPet, / })
  writeFileSync('package.json', '{ "dependencies": { "fastify": "^4.0.0" } }')
  mkdirSync('node_modules/fastify', { recursive: true })
  writeFileSync('node_modules/fastify/package.json', '{ "version": "4.29.1" }')
  await t.rejects(into(), {
    message: /^init: Fastify 4\.29\.1 is too old; install fastify@\^5\S+ in the application first$/,
  })
  writeFileSync('package.json', '{}')
  await t.rejects(into(), {
    message: /package\.json has no dependency fastify; leave out --into to write a new service$/,
  })
  await t.rejects(run(['openapi.yaml', '--into', 'contract']), { message: /contract\/package\.json does not exist; / })
  t.equal(readdirSync(directory, { recursive: true }).length, before + 5)
  t.notOk(existsSync('generated/contract.mjs'))
})

t.test('a version is older than another one by its numbers, and a range by its major version', (t) => {
  for (const [version, than, isTrue] of [
    ['4.29.1', '5', true],
    ['5.4.0', '^5.12.8', true],
    ['5.12.8', '^5.12.8', false],
    ['5.13.0', '^5.12.8', false],
    ['^5.2.0', '^5.12.8', false],
    ['~5.2.0', '^5.12.8', true],
    ['latest', '^5.12.8', false],
  ] as const)
    t.equal(isOlder(version, than), isTrue, `${version}, ${than}`)
  t.end()
})
