import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import t, { type Test } from 'tap'
import { openPortForwarder } from '../../src/dev/port-forwarder.ts'
import { compilerOptions } from '../../src/init/project.ts'

// The compiler keeps the directory in which it was loaded.
process.chdir(
  t.testdir({
    'tsconfig.json': JSON.stringify({ compilerOptions: { ...compilerOptions, types: [], lib: ['ES2023'] } }),
  }),
)
const { typeChecker } = await import('../../src/typescript/type-checker.ts')
t.teardown(() => process.chdir('/'))

let written = 0

/** Writes files, by paths; a checker that compares times of modification sees each change. */
function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    utimesSync(path, 1e9, 1e9 + ++written)
  }
}

/** Writes a project, and returns functions that change its files and check its types. */
function projectOf(directory: string, files: Record<string, string>) {
  const change = (changed: Record<string, string>) =>
    write(Object.fromEntries(Object.entries(changed).map(([path, text]) => [join(directory, path), text])))
  change({ 'package.json': '{ "type": "module" }', ...files })
  const check = typeChecker(join(directory, 'app.ts'))
  return {
    change,
    problem(): string | undefined {
      try {
        check()
        return undefined
      } catch (error) {
        // On a terminal the message has colors.
        return stripVTControlCharacters((error as Error).message).replaceAll(`${directory}/`, '')
      }
    },
  }
}

t.test('a module that was missing is found once it exists', async (t) => {
  const { change, problem } = projectOf('missing', {
    'app.ts':
      "import { own } from './own.ts'\nimport { value } from 'package'\nexport const sum: number = own + value\n",
  })
  t.match(problem(), /app\.ts:1:21 - error TS2307: Cannot find module '\.\/own\.ts'.*app\.ts:2:23 - error TS2307/s)
  change({ 'own.ts': 'export const own = 1\n' })
  t.notMatch(problem(), 'own.ts')
  change({ 'node_modules/package/package.json': '{ "name": "package", "version": "1.0.0", "types": "index.d.ts" }' })
  change({ 'node_modules/package/index.d.ts': 'export declare const value: number\n' })
  t.equal(problem(), undefined)
  rmSync('missing/own.ts')
  t.match(problem(), 'own.ts', 'a module that is deleted is missing again')
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
  t.equal(problem(), undefined)
  change({ 'tenant.ts': 'export type Tenant = number\n' })
  t.match(problem(), /^handlers\.ts:2:\d+ - error TS2322: Type 'number' is not assignable to type 'string'\./)
  change({ 'tenant.ts': 'export type Tenant = string\n' })
  t.equal(problem(), undefined)
  change({ 'app.ts': "import './handlers.ts'\n" })
  t.match(problem(), /^handlers\.ts:2:\d+ - error TS2339: Property 'tenant' does not exist on type 'Request'\./)
  change({ 'app.ts': app })
  t.equal(problem(), undefined)
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
  t.match(problem(), /^handlers\.ts:2:\d+ - error TS2339/)
  change({ 'app.ts': "import './handlers.ts'\nimport 'plugin'\n" })
  t.equal(problem(), undefined)
  change({ 'app.ts': "import './handlers.ts'\n" })
  t.match(problem(), /^handlers\.ts:2:\d+ - error TS2339/)
})

t.test('a message begins with its cause and has no long line', async (t) => {
  const members = Array.from({ length: 60 }, (_, index) => `member${index}: string`).join('; ')
  const { problem } = projectOf('cause', {
    'app.ts': `type Body = { status: 200; body: { id: bigint; ${members} } }
declare const given: Promise<{ status: 200; body: { id: string; ${members} } }>
export const handler: () => Promise<Body> = () => given
`,
  })
  const [first, ...lines] = (problem() as string).split('\n')
  t.equal(first, "app.ts:3:51 - error TS2322: Type 'string' is not assignable to type 'bigint'.")
  t.match(lines[0], /^ {2}(The types|Types) of .*body/)
  t.ok(lines.every((line) => line.length <= 170))
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
