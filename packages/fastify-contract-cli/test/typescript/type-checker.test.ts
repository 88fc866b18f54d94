import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { openPortForwarder } from '../../src/dev/port-forwarder.ts'
import { compilerOptions } from '../../src/init/project.ts'
import { projectCompiler } from '../../src/typescript/project-compiler.ts'
import { checkTypes } from '../../src/typescript/type-checker.ts'

const tsconfig = JSON.stringify({ compilerOptions: { ...compilerOptions, types: [], lib: ['ES2023'] } })
const home = t.testdir({ 'tsconfig.json': tsconfig })
// After a test with a directory of its own, tap changes to the directory of all tests.
t.beforeEach(() => process.chdir(home))
t.teardown(() => process.chdir('/'))
// This hook of tap, which child processes inherit, ends them if tsconfig.json has an error.
process.execArgv = process.execArgv.filter((argument) => !argument.includes('@tapjs/typescript'))

/** Writes files, by paths. */
function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

/** Writes a project, and returns functions that change its files and check its types. */
function projectOf(directory: string, files: Record<string, string>) {
  const change = (changed: Record<string, string>) =>
    write(Object.fromEntries(Object.entries(changed).map(([path, text]) => [join(directory, path), text])))
  change({ 'package.json': '{ "type": "module" }', ...files })
  return {
    change,
    async problem(): Promise<string | undefined> {
      const check = checkTypes(join(directory, 'app.ts'), 'types').then(() => undefined)
      const error = await check.catch((error: Error) => error)
      // On a terminal the message has colors.
      return error && stripVTControlCharacters(error.message).replaceAll(`${directory}/`, '')
    },
  }
}

t.test('a module that was missing is found once it exists', async (t) => {
  const { change, problem } = projectOf('missing', {
    'app.ts':
      "import { own } from './own.ts'\nimport { value } from 'package'\nexport const sum: number = own + value\n",
  })
  t.match(
    await problem(),
    /app\.ts:1:21 - error TS2307: Cannot find module '\.\/own\.ts'.*app\.ts:2:23 - error TS2307/s,
  )
  change({ 'own.ts': 'export const own = 1\n' })
  t.notMatch(await problem(), 'own.ts')
  change({ 'node_modules/package/package.json': '{ "name": "package", "version": "1.0.0", "types": "index.d.ts" }' })
  change({ 'node_modules/package/index.d.ts': 'export declare const value: number\n' })
  t.equal(await problem(), undefined)
  rmSync('missing/own.ts')
  t.match(await problem(), 'own.ts', 'a module that is deleted is missing again')
})

t.test('modules that use an augmented type are checked after each change that it depends on', async (t) => {
  const app = `import type { Tenant } from './tenant.ts'
import './handlers.ts'
declare module 'request' { interface Request { tenant: Tenant } }
`
  const { change, problem } = projectOf('augmented', {
    'node_modules/request/package.json': '{ "types": "index.d.ts" }',
    'node_modules/request/index.d.ts': 'export interface Request { id: string }\n',
    'node_modules/kit/package.json': '{ "types": "index.d.ts" }',
    'node_modules/kit/index.d.ts': "import type { Request } from 'request'\nexport type Given = Request\n",
    'handlers.ts': "import type { Given } from 'kit'\nexport const tenant = ({ tenant }: Given): string => tenant\n",
    'tenant.ts': 'export type Tenant = string\n',
    'app.ts': app,
  })
  t.equal(await problem(), undefined)
  change({ 'tenant.ts': 'export type Tenant = number\n' })
  t.match(await problem(), /^handlers\.ts:2:\d+ - error TS2322: Type 'number' is not assignable to type 'string'\./)
  change({ 'tenant.ts': 'export type Tenant = string\n' })
  t.equal(await problem(), undefined)
  change({ 'app.ts': "import './handlers.ts'\n" })
  t.match(await problem(), /^handlers\.ts:2:\d+ - error TS2339: Property 'tenant' does not exist on type 'Request'\./)
  change({ 'app.ts': app })
  t.equal(await problem(), undefined)
})

t.test('modules that use a type that a package augments are checked after the package is imported', async (t) => {
  const { change, problem } = projectOf('installed', {
    'request.ts': 'export interface Request { id: string }\n',
    'kit.ts': "import type { Request } from './request.ts'\nexport type Given = Request\n",
    'handlers.ts':
      "import type { Given } from './kit.ts'\nexport const cookie = ({ cookie }: Given): string => cookie\n",
    'app.ts': "import './handlers.ts'\n",
    'node_modules/plugin/package.json': '{ "name": "plugin", "version": "1.0.0", "types": "index.d.ts" }',
    'node_modules/plugin/index.d.ts':
      "import '../../request.ts'\ndeclare module '../../request.ts' { interface Request { cookie: string } }\n",
  })
  t.match(await problem(), /^handlers\.ts:2:\d+ - error TS2339/)
  change({ 'app.ts': "import './handlers.ts'\nimport 'plugin'\n" })
  t.equal(await problem(), undefined)
  change({ 'app.ts': "import './handlers.ts'\n" })
  t.match(await problem(), /^handlers\.ts:2:\d+ - error TS2339/)
})

t.test('a change of the options or of the kind of a module applies to files that are unchanged', async (t) => {
  process.chdir(t.testdir({ 'tsconfig.json': tsconfig }))
  const { change, problem } = projectOf('.', {
    'app.ts': 'export const first = (names: string[]): string => names[0]\nawait 0\n',
  })
  t.match(await problem(), /^app\.ts:1:51 - error TS2322: Type 'undefined' is not assignable to type 'string'\./)
  change({ 'tsconfig.json': tsconfig.replace('"noUncheckedIndexedAccess":true', '"noUncheckedIndexedAccess":false') })
  t.equal(await problem(), undefined)
  change({ 'package.json': '{ "type": "commonjs" }' })
  t.match(await problem(), /^app\.ts:1:1 - error TS1287: A top-level 'export' modifier cannot be used/)
  change({ 'package.json': '{ "type": "module" }', 'tsconfig.json': '{ "compilerOptions": { "lib": ["none"] } }' })
  t.match(await problem(), /^tsconfig\.json:1:32 - error TS6046: Argument for '--lib' option must be/m)
  change({ 'tsconfig.json': '{ "extends": "./none.json" }' })
  t.match(await problem(), /^error TS5083: Cannot read file '/)
})

t.test('a file that is renamed and a package that is upgraded are checked as they are', async (t) => {
  const { change, problem } = projectOf('renamed', {
    'app.ts':
      "import { value } from 'package'\nimport { own } from './own.ts'\nexport const sum: number = own + value\n",
    'own.ts': 'export const own = 1\n',
    'node_modules/package/package.json': '{ "name": "package", "version": "1.0.0", "types": "index.d.ts" }',
    'node_modules/package/index.d.ts': 'export declare const value: number\n',
  })
  t.equal(await problem(), undefined)
  renameSync('renamed/own.ts', 'renamed/other.ts')
  t.match(await problem(), /^app\.ts:2:21 - error TS2307: Cannot find module '\.\/own\.ts'/)
  renameSync('renamed/other.ts', 'renamed/own.ts')
  change({
    'node_modules/package/package.json': '{ "name": "package", "version": "2.0.0", "types": "main.d.ts" }',
    'node_modules/package/main.d.ts': 'export declare const value: bigint\n',
  })
  t.match(await problem(), /^app\.ts:3:28 - error TS2365: Operator '\+' cannot be applied to types/)
  change({ 'own.ts': 'export const own = 1n\n', 'app.ts': "import { own } from './own.ts'\nexport { own\n" })
  t.match(await problem(), /^app\.ts:3:1 - error TS1005: '}' expected\.$/m)
})

t.test('a compiler with an API stays until another version is installed or it ends', async (t) => {
  process.chdir(t.testdir({ 'tsconfig.json': tsconfig }))
  const compiler = projectCompiler('.')
  const versionOf = (version: string) => ({
    'node_modules/typescript/package.json': JSON.stringify({ version, bin: { tsc: './tsc.cjs' } }),
    'node_modules/typescript/lib/typescript.js': `console.error = () => {}
if (${JSON.stringify(version)} === 'broken') process.exit(3)
module.exports = {
  ...require(${JSON.stringify(compiler.api)}),
  sortAndDeduplicateDiagnostics: (all) => all,
  formatDiagnosticsWithColorAndContext: () => ${JSON.stringify(version)} + process.pid,
}`,
  })
  const { change, problem } = projectOf('.', { ...versionOf('a'), 'app.ts': '' })
  const printed = await problem()
  t.match(printed, /^a\d+$/)
  t.equal(await problem(), printed, 'the same process')
  change(versionOf('b'))
  const next = (await problem()) as string
  t.match(next, /^b\d+$/)
  process.kill(Number(next.slice(1)))
  const hasEnded = async () => ((await problem()) as string) !== next
  await until(hasEnded, 'the end of the compiler')
  t.match(await problem(), /^b\d+$/, 'a new process')
  change(versionOf('broken'))
  t.equal(await problem(), 'the compiler has ended with exit code 3')
})

t.test('types are checked again only after a change or a problem', async (t) => {
  process.chdir(t.testdir({ 'tsconfig.json': tsconfig }))
  const { api } = projectCompiler('.')
  const { change, problem } = projectOf('.', {
    'node_modules/typescript/package.json': JSON.stringify({ bin: { tsc: './tsc.cjs' } }),
    'node_modules/typescript/lib/typescript.js': `const compiler = require(${JSON.stringify(api)})
function createProgram(...args) {
  const program = compiler.createProgram(...args)
  const getSemanticDiagnostics = () => {
    require('node:fs').appendFileSync('checks.txt', 'x')
    return program.getSemanticDiagnostics()
  }
  return { ...program, getSemanticDiagnostics }
}
module.exports = { ...compiler, createProgram }`,
    'app.ts': "import { own } from './own.ts'\nexport const sum: number = own\n",
    'own.ts': 'export const own = 1\n',
    'unused.ts': '',
  })
  const checks = () => readFileSync('checks.txt', 'utf8').length
  t.equal(await problem(), undefined)
  change({ 'unused.ts': 'export const unused: string = 1\n' })
  t.equal(await problem(), undefined)
  t.equal(checks(), 1, 'no file of the module has changed')
  change({ 'own.ts': "export const own = 'text'\n" })
  t.match(await problem(), /TS2322/)
  t.match(await problem(), /TS2322/)
  t.equal(checks(), 3)
  change({ 'own.ts': 'export const own = 1\n' })
  t.equal(await problem(), undefined)
  t.equal(checks(), 4)
})

t.test('a message begins with its cause and has no long line', async (t) => {
  const members = Array.from({ length: 60 }, (_, index) => `member${index}: string`).join('; ')
  const { problem } = projectOf('cause', {
    'app.ts': `type Body = { status: 200; body: { id: bigint; ${members} } }
declare const given: Promise<{ status: 200; body: { id: string; ${members} } }>
export const handler: () => Promise<Body> = () => given
`,
  })
  const [first, ...lines] = ((await problem()) as string).split('\n')
  t.equal(first, "app.ts:3:51 - error TS2322: Type 'string' is not assignable to type 'bigint'.")
  t.match(lines[0], /^ {2}(The types|Types) of .*body/)
  t.ok(lines.every((line) => line.length <= 170))
})

/** Returns a program that prints what `tsc --pretty` would, and its manifest, to write as the `typescript` of a project. */
const compilerOf = (command: string, lines: string[]) => ({
  'node_modules/typescript/package.json': JSON.stringify({ bin: { [command]: './run.cjs' } }),
  'node_modules/typescript/run.cjs': `console.log(${JSON.stringify(lines.join('\n'))}); process.exit(2)`,
})

/** Returns the first line of a message as TypeScript 5.9 to 7 print it. */
const headerOf = (place: string, message: string) =>
  `${place.replace(/[^:]+/g, '\u001B[96m$&\u001B[0m')} - \u001B[91merror\u001B[0m\u001B[90m TS2322: \u001B[0m${message}`

const sourceLine = '\u001B[7m7\u001B[0m   status: 299'

t.test('the compiler of the project checks, and each version has the same messages', async (t) => {
  const outputs = {
    tsc: [
      headerOf('src/b.ts:10:1', 'Second.'),
      '',
      sourceLine,
      '',
      headerOf('src/b.ts:7:5', "Type '299' is not assignable to type '400 | 200'."),
      '',
      sourceLine,
      '',
      '  \u001B[96msrc/c.ts\u001B[0m:\u001B[93m1\u001B[0m:\u001B[93m1\u001B[0m',
      '    The expected type comes from here.',
      '',
      headerOf('src/a.ts:1:1', 'Third.'),
      "  Types of property 'b' are incompatible.",
      '    Other line.',
      '    Type \'"b" | "a" | X[]\' is not assignable.',
      '',
      '',
      'Found 3 errors in 2 files.',
    ],
    tsc6: [
      headerOf('src/a.ts:1:1', 'Third.'),
      "  Types of property 'b' are incompatible.",
      '    Type \'"a" | "b" | X[]\' is not assignable.',
      '',
      headerOf('src/b.ts:7:5', "Type '299' is not assignable to type '200 | 400'."),
      '',
      sourceLine,
      '',
      '  \u001B[96msrc/c.ts\u001B[0m:\u001B[93m1\u001B[0m:\u001B[93m1\u001B[0m - The expected type comes from here.',
      '    \u001B[7m1\u001B[0m status',
      headerOf('src/b.ts:10:1', 'Second.'),
      '',
      sourceLine,
    ],
  }
  for (const [command, lines] of Object.entries(outputs)) {
    process.chdir(t.testdir({ 'tsconfig.json': tsconfig }))
    const { problem } = projectOf('.', { ...compilerOf(command, lines), 'app.ts': '' })
    t.equal(
      await problem(),
      `src/a.ts:1:1 - error TS2322: Type '"a" | "b" | X[]' is not assignable.
  Types of property 'b' are incompatible.
  Third.

src/b.ts:7:5 - error TS2322: Type '299' is not assignable to type '200 | 400'.
7   status: 299

src/b.ts:10:1 - error TS2322: Second.
7   status: 299`,
      command,
    )
  }
})

t.test('without a compiler of the project, the compiler of this package checks', async (t) => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'compiler-'))
  t.teardown(() => rmSync(elsewhere, { recursive: true }))
  t.match(projectCompiler(elsewhere).tsc, /node_modules\/typescript\/bin\/tsc$/)
})

t.test('an output that is no list of messages is shown as it is', async (t) => {
  process.chdir(t.testdir({ 'tsconfig.json': tsconfig }))
  const { problem, change } = projectOf('.', { ...compilerOf('tsc', ['out of memory']), 'app.ts': '' })
  t.equal(await problem(), 'out of memory')
  rmSync('node_modules', { recursive: true })
  change({ 'tsconfig.json': '{ "compilerOptions": { "unknown": true } }' })
  t.match(await problem(), /^tsconfig\.json:1:24 - error TS5023: Unknown compiler option 'unknown'\./)
  rmSync('tsconfig.json')
  change({ 'app.ts': "import { a } from './a.ts'\nexport const b: null = a\n", 'a.ts': 'export const a = 1\n' })
  t.match(await problem(), /^app\.ts:2:14 - error TS2322: Type '1' is not assignable to type 'null'\./, 'strict')
  change({ 'app.ts': 'export const b: number = a\n', 'globals.d.ts': 'declare const a: number\n' })
  t.equal(await problem(), undefined, 'a global declaration')
})

t.test('global declarations are those of tsconfig.json, in any directory', async (t) => {
  process.chdir(
    t.testdir({ 'tsconfig.json': tsconfig.replace('{', '{"include":["src","types"],"exclude":["src/old"],') }),
  )
  const { problem, change } = projectOf('.', {
    'src/app.ts': 'export const sum: number = a + b\n',
    'src/globals/a.d.ts': 'declare const a: number\n',
    'types/b.d.mts': 'declare global { const b: number }\nexport {}\n',
    'src/old/a.d.ts': 'declare const a: string\ndeclare const b: string\n',
    'app.ts': "import './src/app.ts'\n",
  })
  t.equal(await problem(), undefined)
  change({ 'src/globals/a.d.ts': 'declare const a: string\n' })
  t.match(await problem(), /^src\/app\.ts:1:14 - error TS2322/)
})

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('connections wait while the service is replaced and are closed when none runs', async (t) => {
  const front = await openPortForwarder({ host: '127.0.0.1', port: 0 })
  t.teardown(front.close)
  const body = 'x'.repeat(1_000_000)
  const [old, new_] = await Promise.all(
    ['old', 'new'].map((name) => serve(t, (request, response) => request.resume().on('end', () => response.end(name)))),
  )
  const post = async () => (await httpRequest(front.url, { method: 'POST', body })).body
  const first = post()
  front.forward(old)
  t.equal(await first, 'old')
  t.equal(await post(), 'old')
  front.hold()
  const waiting = post()
  front.hold()
  front.forward(new_)
  t.equal(await waiting, 'new')
  t.equal(await post(), 'new')
  front.forward(undefined)
  await t.rejects(post(), { code: /ECONNRESET|EPIPE/ })
})
