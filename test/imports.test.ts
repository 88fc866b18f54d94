import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { type Import, importsOf } from './support/imports-of.ts'

const run = promisify(execFile)

const engine = 'packages/fastify-contract/src'
const commands = 'packages/fastify-contract-cli/src'

/** A room: the files whose path begins with `at`, and the rooms that they may import, the own one included. */
type Room = { at: string; imports: string[] }

/** The rooms of the engine, each of which may import the earlier ones that it names. */
const engineRooms = {
  json: [],
  contract: [],
  preconditions: ['contract'],
  schema: ['contract', 'json'],
  http: ['contract', 'json'],
  limits: ['contract'],
  auth: ['contract', 'http', 'json'],
  request: ['schema', 'contract', 'limits', 'http', 'json'],
  response: ['preconditions', 'schema', 'contract', 'http', 'json'],
  idempotency: ['response', 'contract', 'http'],
  routes: ['idempotency', 'request', 'response', 'preconditions', 'auth', 'limits', 'schema', 'contract', 'http'],
  client: ['contract', 'json'],
  webhooks: ['client', 'response', 'auth', 'schema', 'http', 'contract', 'json'],
  mcp: ['client', 'routes', 'request', 'limits', 'contract', 'http', 'json'],
  service: ['routes', 'auth', 'limits', 'contract', 'http'],
}

/** The rooms of the commands, each of which may import the earlier ones that it names. */
const commandRooms = {
  text: [],
  reports: [],
  document: ['text'],
  fetch: [],
  digests: [],
  read: ['digests', 'fetch', 'document', 'reports'],
  passes: ['read', 'document', 'reports'],
  redocly: ['passes', 'read', 'digests', 'document'],
  rules: ['passes', 'read', 'document', 'reports', 'text'],
  typescript: ['document'],
  examples: ['passes', 'document', 'text'],
  emit: ['examples', 'typescript', 'rules', 'redocly', 'passes', 'read', 'document', 'reports', 'text'],
  'contract-test': ['emit', 'examples', 'passes', 'document', 'text'],
  changes: ['redocly', 'read', 'document'],
  docs: ['changes', 'emit', 'examples', 'passes', 'document', 'digests', 'text'],
  mock: ['examples', 'passes', 'document'],
  dev: ['docs', 'emit', 'rules', 'typescript', 'text'],
  init: [
    'contract-test',
    'docs',
    'emit',
    'examples',
    'rules',
    'redocly',
    'read',
    'fetch',
    'document',
    'typescript',
    'text',
  ],
  cli: [
    'digests',
    'fetch',
    'changes',
    'docs',
    'mock',
    'contract-test',
    'dev',
    'init',
    'emit',
    'typescript',
    'rules',
    'redocly',
    'passes',
    'read',
    'document',
    'text',
  ],
}

const roomsOf = (house: string, rooms: Record<string, string[]>): [string, Room][] =>
  Object.entries(rooms).map(([name, others]) => [
    `${house}/${name}`,
    { at: `${house}/${name}/`, imports: [name, ...others].map((other) => `${house}/${other}`) },
  ])

const rooms = Object.fromEntries([...roomsOf(engine, engineRooms), ...roomsOf(commands, commandRooms)])

const roomOf = (path: string) => Object.keys(rooms).find((name) => path.startsWith(rooms[name]?.at as string))

/** The pairs of rooms with an import. A permission without one fails the test, so that it is removed. */
const used = new Set<string>()

/** Returns why a module of the repository may not have an import; undefined when it may. */
function violation(file: string, { to, isType }: Import): string | undefined {
  const kind = isType ? 'the types of ' : ''
  const house = [engine, commands].find((one) => file.startsWith(`${one}/`))
  if (house !== undefined) {
    if (house === engine && /^fastify-contract-cli(?:\/|$)/.test(to)) return `the engine may not import ${kind}${to}`
    if (!/^(packages|src|scripts|test|generated|openapi|node_modules)\//.test(to)) return undefined
    if (!to.startsWith(`${house}/`)) return `${house} may not import ${kind}${to}`
    const own = roomOf(file)
    // The modules outside of rooms are the exports and the command.
    if (own === undefined) return undefined
    const target = roomOf(to)
    if (target === undefined) return `${own} may not import ${kind}${to}`
    used.add(`${own} ${target}`)
    return rooms[own]?.imports.includes(target) ? undefined : `${own} may not import ${kind}${target}`
  }
  if (to.startsWith('packages/')) return `${to} is not an export of a package`
  if (to.startsWith('test/')) return 'only tests import test/'
  if (!file.startsWith('src/')) return undefined
  if (/^fastify-contract-cli(?:\/|$)/.test(to)) return `production does not install ${to}`
  if (to.startsWith('scripts/')) return 'the service may not import scripts/'
  // A store imports only stores, so that a change of the HTTP interface never changes a store.
  if (file.startsWith('src/store/') && /^(src\/(?!store\/)|generated\/|fastify-contract)/.test(to))
    return `a store may not import ${kind}${to}`
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
    .filter((file) => /^(?!.*node_modules\/).*\.(ts|js)$/.test(file))
    .map((file) => `${directory}/${file}`)

const texts = new Map(
  [...filesIn(engine), ...filesIn(commands), ...filesIn('src'), ...filesIn('scripts')].map((file) => [
    file,
    readFileSync(file, 'utf8'),
  ]),
)
const graph = new Map(Array.from(texts, ([file, text]) => [file, importsOf(file, text)]))

t.test('imports go one way', async (t) => {
  for (const [file, imports] of graph)
    for (const each of imports) t.equal(violation(file, each), undefined, `${file}: ${each.to}`)
  for (const [name, { imports }] of Object.entries(rooms))
    for (const other of imports) if (other !== name) t.ok(used.has(`${name} ${other}`), `${name} imports ${other}`)
})

t.test('a room imports earlier rooms only', async (t) => {
  const names = Object.keys(rooms)
  for (const [name, { imports }] of Object.entries(rooms))
    for (const other of imports) t.ok(names.indexOf(other) <= names.indexOf(name), `${name} may import ${other}`)
})

/** Returns a module and all that it loads, directly or not. */
function loadedBy(file: string, found = new Set<string>()): string[] {
  if (found.has(file)) return []
  found.add(file)
  for (const { to, isType } of graph.get(file) ?? []) if (!isType) loadedBy(to, found)
  return [...found]
}

t.test('the entry modules of the contract, the schemas and JSON load no server', async (t) => {
  const roomsOfEntry = (name: string) =>
    [...new Set(loadedBy(`${engine}/${name}.ts`).map(roomOf))].flatMap(
      (room = `${engine}/`) => room.slice(engine.length + 1) || [],
    )
  t.same(roomsOfEntry('json'), ['json'])
  t.same(roomsOfEntry('schema').sort(), ['contract', 'json', 'schema'])
  t.notMatch(
    loadedBy(`${engine}/contract.ts`).join('\n'),
    /connections|request-guards|routes\/create|service\/|listener/,
  )
  const entries = ['json', 'schema', 'contract'].map((name) => `await import('fastify-contract/${name}')\n`)
  const program = `${entries.join('')}console.log(Object.keys(createRequire(import.meta.url).cache).join('\\n'))`
  const { stdout } = await run(process.execPath, [
    '--import=fastify-contract-test-support/register-strip-types.js',
    '--input-type=module',
    `--eval=import { createRequire } from 'node:module'\n${program}`,
  ])
  t.match(stdout, /node_modules\/ajv\//)
  t.notMatch(stdout, /node_modules\/(?:fastify|find-my-way|pino|@fastify)\//)
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
    [`${engine}/json/a.ts`, "import '../contract/errors.ts'"],
    [`${engine}/http/a.ts`, "export * from '../routes/create-server.ts'"],
    [`${engine}/http/a.ts`, "import type { A } from '../auth/verifier.ts'"],
    [`${engine}/auth/a.ts`, "import type { Routes } from '../routes/routes.ts'"],
    [`${engine}/schema/a.ts`, "import '../request/parameters.ts'"],
    [`${engine}/routes/a.ts`, "new Worker(new URL('../../../fastify-contract-cli/src/emit/a.ts', import.meta.url))"],
    [`${engine}/routes/a.ts`, "import '../service/log.ts'"],
    [`${engine}/routes/a.ts`, "import '../index.ts'"],
    [`${engine}/client/a.ts`, "import '../http/streams.ts'"],
    [`${engine}/contract/a.ts`, "import '../http/request-head.ts'"],
    [`${engine}/schema/a.ts`, "import type { Guard } from '../http/request-guards.ts'"],
    [`${engine}/service/a.ts`, "const a = await import('fastify-contract-cli/compile')"],
    [`${engine}/index.ts`, "export * from '../../fastify-contract-cli/src/emit/compile.ts'"],
    [`${engine}/routes/a.ts`, "import type { operations } from '../../../../generated/api.d.ts'"],
    [`${commands}/emit/a.ts`, "import '../../../fastify-contract/src/json/decimal.ts'"],
    [`${commands}/document/a.ts`, "import '../passes/normalize.ts'"],
    [`${commands}/document/a.ts`, "import type { Report } from '../reports/reports.ts'"],
    [`${commands}/passes/a.ts`, "import '../rules/check-document.ts'"],
    [`${commands}/rules/a.ts`, "import '../emit/mcp-table.ts'"],
    [`${commands}/examples/a.ts`, "import '../emit/request-file.ts'"],
    [`${commands}/cli/a.ts`, "fork('../../../../src/server.ts')"],
    [`${commands}/cli/a.ts`, "import '../../../../scripts/system/process-usage.ts'"],
    ['src/app.ts', "import 'fastify-contract-cli/compile'"],
    ['src/app.ts', "import '../packages/fastify-contract/src/routes/create-server.ts'"],
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

t.test('the packages know no plants', async (t) => {
  for (const file of [...filesIn(engine), ...filesIn(commands)]) t.notMatch(texts.get(file) as string, /plant/i, file)
})

t.test('the JWT verifier is loaded only when JWT is configured', async (t) => {
  const loaded = Array.from(texts.values()).filter((text) => /import (?!type ).* from '.*\/jwt\.ts'/.test(text))
  t.same(loaded, [])
})

/** The packages, and the directories of their tests that stand for no directory of their sources. */
const packages = {
  'fastify-contract': ['examples', 'support'],
  'fastify-contract-cli': ['conformance', 'documents', 'support'],
  'test-support': [],
}

t.test('the tests of a package import the package and what it declares', async (t) => {
  for (const name of Object.keys(packages)) {
    const home = `packages/${name}`
    const manifest = JSON.parse(readFileSync(`${home}/package.json`, 'utf8'))
    const declared = Object.keys({ [manifest.name]: '', ...manifest.dependencies, ...manifest.devDependencies })
    for (const file of filesIn(`${home}/test`))
      for (const { to } of importsOf(file, readFileSync(file, 'utf8'))) {
        const [installed] = /^(?:@[\w.-]+\/)?[\w-][\w.-]*/.exec(to) ?? ['']
        if (to.includes('/') && existsSync(to)) t.ok(to.startsWith(`${home}/`), `${file}: ${to}`)
        else if (existsSync(`node_modules/${installed}/package.json`))
          t.ok(declared.includes(installed), `${file}: ${to}`)
      }
  }
})

t.test('the tests of a package have the directories of its sources', async (t) => {
  for (const [name, others] of Object.entries(packages)) {
    const [tests, sources] = ['test', 'src'].map((kind) => directoriesIn(`packages/${name}/${kind}`))
    t.same(
      tests?.filter((one) => !sources?.includes(one)),
      others,
      name,
    )
  }
})

const directoriesIn = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()

t.test('the paths of files of the commands begin at their sources, as a bundle needs them', (t) => {
  for (const file of filesIn(commands)) {
    // A bundle keeps the modules that are not in a room, and those in JavaScript.
    if (dirname(file) === commands || file.endsWith('.js')) continue
    const text = readFileSync(file, 'utf8')
    t.notMatch(text, /import\.meta\.dirname(?!, '\.\.')|new URL\((?!.\.\.\/).*import\.meta\.url/, file)
    if (/import\.meta\.(?:dirname|url)/.test(text)) t.equal(dirname(dirname(file)), commands, file)
  }
  t.end()
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

t.test('file names, and exported names of what runs in production, are unique', async (t) => {
  const exported = /^export (?:async )?(?:function\*?|const|let|type|class) (\w+)/gm
  for (const directory of [engine, commands, 'src']) {
    const files = filesIn(directory)
    assertUnique(t, files, (file) => [basename(file)])
    const served = files.filter((file) => directory === 'src' || roomOf(file)?.startsWith(engine))
    // A function has several signatures if it is overloaded.
    assertUnique(t, served, (file) => [
      ...new Set(Array.from((texts.get(file) ?? '').matchAll(exported), ([, name]) => name as string)),
    ])
  }
})

t.test('files have at most 400 lines', async (t) => {
  for (const [file, text] of texts)
    t.ok(text.split('\n').length <= 401, `${file} has ${text.split('\n').length - 1} lines`)
})

t.test('a directory of the packages has at most 25 files', async (t) => {
  const directories = [...filesIn(engine), ...filesIn(commands)].map((file) => file.slice(0, file.lastIndexOf('/')))
  for (const directory of new Set(directories)) {
    const count = directories.filter((each) => each === directory).length
    t.ok(count <= 25, `${directory} has ${count} files`)
  }
})
