import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import t, { type Test } from 'tap'
import { type Import, importsOf } from './support/imports-of.ts'

const engine = 'packages/fastify-contract/src'

/** A room: the files whose path begins with `at`, and the rooms that they may import, the own one included. */
type Room = { at: string; imports: string[]; types?: string[] }

const runTime = ['json', 'http', 'limits', 'auth', 'serve', 'client', 'webhooks', 'mcp', 'service']

/** The rooms of the engine, each of which may import the earlier ones that it names. */
const rooms: Record<string, Room> = Object.fromEntries(
  Object.entries({
    json: [],
    http: ['json'],
    limits: ['http'],
    auth: ['limits', 'http', 'json'],
    serve: ['auth', 'limits', 'http', 'json'],
    client: ['json'],
    webhooks: ['client', 'serve', 'json'],
    mcp: ['client', 'serve', 'limits', 'http', 'json'],
    service: ['serve', 'auth', 'limits', 'http', 'json'],
    compile: ['mcp', 'webhooks', 'serve', 'auth', 'http', 'json', 'client'],
    changes: ['compile', 'serve', 'http'],
    docs: ['changes', 'compile', 'serve', 'client', 'json'],
    mock: ['compile', 'serve', 'auth', 'http', 'json'],
    dev: ['docs', 'compile', 'service', 'serve', 'auth', 'cli'],
    init: ['compile', 'serve', 'http'],
    cli: ['changes', 'docs', 'mock', 'dev', 'init', 'compile', ...runTime],
  }).map(([name, others]) => [name, { at: `${engine}/${name}/`, imports: [name, ...others] }]),
)

const roomOf = (path: string) => Object.keys(rooms).find((name) => path.startsWith(rooms[name]?.at as string))

/** The modules of the package's own directory: its entry, and its command. */
const entries: Record<string, string[]> = { 'index.ts': ['serve', 'auth', 'limits', 'http', 'json'], 'cli.ts': ['cli'] }

/** Returns why a module of the repository may not have an import; undefined when it may. */
function violation(file: string, { to, isType }: Import): string | undefined {
  const kind = isType ? 'the types of ' : ''
  if (file.startsWith(engine)) {
    if (!/^(packages|src|scripts|test|generated|openapi|node_modules)\//.test(to)) return undefined
    if (!to.startsWith(engine)) return `the engine may not import ${kind}${to}`
    const own = roomOf(file)
    const allowed = own === undefined ? entries[basename(file)] : rooms[own]?.imports
    const target = roomOf(to)
    if (target === undefined || allowed?.includes(target)) return undefined
    return `${own ?? basename(file)} may not import ${kind}${target}`
  }
  if (to.startsWith('packages/')) return `${to} is not an export of the engine`
  if (to.startsWith('test/')) return 'only tests import test/'
  if (!file.startsWith('src/')) return undefined
  if (to.startsWith('scripts/')) return 'the service may not import scripts/'
  // A store imports only stores and functions for files, so that a change of the HTTP interface never changes a store.
  if (file.startsWith('src/store/') && /^(src\/(?!store\/)|generated\/|fastify-contract(?!\/files$))/.test(to)) {
    return `a store may not import ${kind}${to}`
  }
  // An adapter is loaded only when its URL asks for it.
  const adapter = /^src\/store\/(\w+)\/|^src\/store\/(memory|module)\.ts$/.exec(to)
  const isAdapterOrOpen = /^src\/store\/(\w+\/|open|memory|module)/.test(file)
  if (file === 'src/server.ts' || file === 'src/app.ts' || file === 'src/handlers.ts') {
    if (adapter !== null && !isType && !isAdapterOrOpen) return `${to} is loaded by src/store/open.ts only`
  }
  return undefined
}

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|js)$/.test(file))
    .map((file) => `${directory}/${file}`)

const texts = new Map(
  [...filesIn(engine), ...filesIn('src'), ...filesIn('scripts')].map((file) => [file, readFileSync(file, 'utf8')]),
)
const graph = new Map(Array.from(texts, ([file, text]) => [file, importsOf(file, text)]))

t.test('imports go one way', async (t) => {
  for (const [file, imports] of graph) {
    for (const each of imports) t.equal(violation(file, each), undefined, `${file}: ${each.to}`)
  }
})

t.test('every form of an import is seen', async (t) => {
  const forms: [string, boolean][] = [
    ["import { a } from './x.ts'", false],
    ["import a from './x.ts'", false],
    ["import * as a from './x.ts'", false],
    ["import './x.ts'", false],
    ["import type { A } from './x.ts'", true],
    ["import { type A } from './x.ts'", true],
    ["import { type A, b } from './x.ts'", false],
    ["import a = require('./x.ts')", false],
    ["export { a } from './x.ts'", false],
    ["export * from './x.ts'", false],
    ["export type { A } from './x.ts'", true],
    ["export { type A } from './x.ts'", true],
    ["export function* f() { yield import('./x.ts') }", false],
    ["type A = import('./x.ts').A", true],
    ["const a = await import('./x.ts')", false],
    ["const a = require('./x.ts')", false],
    ["fork('./x.ts')", false],
    ["new Worker('./x.ts')", false],
    ["new Worker(new URL('./x.ts', import.meta.url))", false],
    ["fileURLToPath(new URL('./x.ts', import.meta.url))", false],
    ["import.meta.resolve('./x.ts')", false],
    ["register('./x.ts', import.meta.url)", false],
  ]
  for (const [text, isType] of forms) t.same(importsOf('a/b.ts', text), [{ to: 'a/x.ts', isType }], text)
})

t.test('each wall is guarded', async (t) => {
  const refused: [string, string][] = [
    [`${engine}/json/a.ts`, "import '../http/errors.ts'"],
    [`${engine}/http/a.ts`, "export * from '../serve/routes.ts'"],
    [`${engine}/http/a.ts`, "import type { A } from '../auth/verifier.ts'"],
    [`${engine}/auth/a.ts`, "import type { Routes } from '../serve/routes.ts'"],
    [`${engine}/serve/a.ts`, "new Worker(new URL('../compile/a.ts', import.meta.url))"],
    [`${engine}/serve/a.ts`, "import '../service/log.ts'"],
    [`${engine}/client/a.ts`, "import '../http/errors.ts'"],
    [`${engine}/service/a.ts`, "const a = await import('../compile/a.ts')"],
    [`${engine}/compile/a.ts`, "import '../service/log.ts'"],
    [`${engine}/index.ts`, "export * from './compile/compile.ts'"],
    [`${engine}/serve/a.ts`, "import type { operations } from '../../../../generated/api.d.ts'"],
    [`${engine}/cli/a.ts`, "fork('../../../../src/server.ts')"],
    [`${engine}/cli/a.ts`, "import '../../../../scripts/system/poll.ts'"],
    ['src/app.ts', "import '../packages/fastify-contract/src/serve/create-server.ts'"],
    ['src/server.ts', "import './store/memory.ts'"],
    ['src/store/a.ts', "import type { A } from '../handlers.ts'"],
    ['src/store/a.ts', "import 'fastify-contract'"],
    ['src/app.ts', "import '../scripts/build.ts'"],
    ['scripts/a.ts', "import '../test/support/browser.ts'"],
  ]
  for (const [file, text] of refused) {
    const [found] = importsOf(file, text)
    t.type(found && violation(file, found), 'string', `${file}: ${text}`)
  }
})

t.test('the engine knows no plants', async (t) => {
  for (const file of filesIn(engine)) t.notMatch(texts.get(file) as string, /plant/i, file)
})

t.test('the JWT verifier is loaded only when JWT is configured', async (t) => {
  const loaded = Array.from(texts.values()).filter((text) => /import (?!type ).* from '.*\/jwt\.ts'/.test(text))
  t.same(loaded, [])
})

t.test('there are no circular imports', async (t) => {
  const done = new Set<string>()
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) t.fail([...path.slice(path.indexOf(file)), file].join(' -> '))
    if (done.has(file) || path.includes(file)) return
    for (const { to, isType } of graph.get(file) ?? []) if (graph.has(to) && !isType) visit(to, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  t.pass()
})

/** Asserts that the names which `namesOf` finds in the files of a house occur once. */
function assertUnique(t: Test, files: string[], namesOf: (file: string) => string[]): void {
  const names = files.flatMap(namesOf)
  t.same(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
}

t.test('file names and exported names of the plant store and of the engine are unique', async (t) => {
  const exported = /^export (?:async )?(?:function\*?|const|let|type|class) (\w+)/gm
  for (const directory of [engine, 'src']) {
    const files = filesIn(directory)
    assertUnique(t, files, (file) => [basename(file)])
    const served = files
      .filter((file) => directory === 'src' || runTime.includes(String(roomOf(file))))
    assertUnique(t, served, (file) =>
      Array.from((texts.get(file) ?? '').matchAll(exported), ([, name]) => name as string),
    )
  }
})

t.test('files have at most 400 lines', async (t) => {
  for (const [file, text] of texts)
    t.ok(text.split('\n').length <= 401, `${file} has ${text.split('\n').length - 1} lines`)
})

t.test('a directory of the engine has at most 28 files', async (t) => {
  const directories = filesIn(engine).map((file) => file.slice(0, file.lastIndexOf('/')))
  for (const directory of new Set(directories)) {
    const count = directories.filter((each) => each === directory).length
    t.ok(count <= 28, `${directory} has ${count} files`)
  }
})
