import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import t from 'tap'
import { markdownPages } from '../scripts/lint/markdown-links.ts'
import { openMemory } from '../src/store/memory.ts'
import { openStore } from '../src/store/open.ts'
import { Unavailable } from '../src/store/plant-store.ts'
import { coveredCode } from './support/service-code.ts'
import { spawnService } from './support/service-process.ts'
import { sqliteSkipReason } from './support/sqlite.ts'
import { createTestApp } from './support/test-app.ts'

t.test('the README links to every page of docs/ and to the index of decisions', async (t) => {
  const readme = readFileSync('README.md', 'utf8')
  const isLinked = (page: string) => dirname(page) === 'docs' || page === 'docs/decisions/README.md'
  for (const page of markdownPages('.').filter(isLinked)) t.ok(readme.includes(`(${page})`), page)
})

t.test('every table of a page has a header', async (t) => {
  for (const page of markdownPages('.')) {
    const tables = readFileSync(page, 'utf8').matchAll(/(?<=^|\n)(?<!\|\n)\|.*\n(.*)/g)
    for (const [text, next] of tables) t.match(next, /^\|( ?:?-+:? ?\|)+$/, `${page}: ${text}`)
  }
})

t.test('no manifest of the sources has an address of the repository, which the build adds', async (t) => {
  for (const path of ['.', ...readdirSync('packages').map((name) => join('packages', name))]) {
    const { repository, homepage, bugs } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    t.same([repository, homepage, bugs], [undefined, undefined, undefined], path)
  }
})

const contributing = readFileSync('CONTRIBUTING.md', 'utf8')
const { scripts, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'))

t.test('the commands and files that CONTRIBUTING names exist', async (t) => {
  const commands = Array.from(contributing.matchAll(/npm run ([\w:]+)/g), ([, name = '']) => name)
  const files = Array.from(contributing.matchAll(/[`\s]((?:\.?[\w-]+\/)+[\w.-]+\.\w+)/g), ([, path = '']) => path)
  for (const found of [commands, files]) t.ok(found.length > 2)
  for (const name of commands) if (name !== 'NAME') t.ok(Object.hasOwn(scripts, name), name)
  for (const path of files.filter((path) => !path.startsWith('dist/'))) t.ok(existsSync(path), path)
})

t.test('CONTRIBUTING has a row for each command', async (t) => {
  const rows = Array.from(contributing.matchAll(/^\| `npm (?:run )?([\w:]+)/gm), ([, name]) => name)
  const names = Object.keys(scripts).filter((name) => !name.startsWith('pre'))
  for (const name of names) t.ok(rows.includes(name), name)
  // The service has 15; init starts a service of one's own, and site shows the guides.
  t.ok(names.length <= 17, 'npm run reads like a table of contents')
  const [, parts = ''] = /^parts=\((.*)\)$/m.exec(readFileSync('.ci/nightly', 'utf8')) ?? []
  for (const part of parts.split(' ')) t.match(contributing, `| \`.ci/nightly ${part}\` |`)
})

t.test("the engine's page has the override of the project that concerns production", async (t) => {
  const manifests = blocks('packages/fastify-contract/README.md', 'json').map((text) => JSON.parse(text))
  const { 'light-my-request': override } = manifest.overrides
  t.same(manifests.find(({ overrides }) => overrides !== undefined)?.overrides, { 'light-my-request': override })
})

t.test('every dependency has a row in docs/architecture.md', async (t) => {
  const folders = ['fastify-contract', 'fastify-contract-cli', 'test-support'].map((name) => `packages/${name}`)
  const manifests = [...folders, 'scripts/lint', 'scripts/postgres', 'scripts/site', 'test/telemetry'].map((folder) =>
    JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')),
  )
  const names = [manifest, ...manifests].flatMap(({ dependencies, devDependencies, optionalDependencies }) =>
    Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }),
  )
  const [, table = ''] = /^## Dependencies\n(.*)/ms.exec(readFileSync('docs/architecture.md', 'utf8')) ?? []
  const rows = Array.from(table.matchAll(/^\| ([^|]+) \|/gm), ([, names = '']) => names.split(', ')).flat()
  for (const name of new Set(names)) t.ok(rows.includes(name), name)
})

t.test('the page of the contract has the error table of the document', async (t) => {
  const { 'x-error-numbers': numbers } = JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as {
    'x-error-numbers': Record<string, { error: number; meaning: string }>
  }
  t.same(
    Array.from(readFileSync('docs/contract.md', 'utf8').matchAll(/^\| \d{5} .*$/gm), ([row]) => row),
    Object.entries(numbers).map(
      ([name, { error, meaning }]) => `| ${error} | ${Math.floor(error / 100)} | \`${name}\` | ${meaning} |`,
    ),
  )
})

const decisions = 'docs/decisions'
const decisionIndex = readFileSync(`${decisions}/README.md`, 'utf8')
const decisionPages = readdirSync(decisions).filter((name) => name !== 'README.md')

t.test('each decision has a line in the index, under the title of its page', async (t) => {
  t.ok(decisionPages.length > 10)
  for (const name of decisionPages) {
    const [title = ''] = readFileSync(`${decisions}/${name}`, 'utf8').split('\n')
    t.match(title, /^# \S/, `${name} begins with a heading`)
    t.ok(decisionIndex.includes(`\n- [${title.slice(2)}](${name}): `), `${name} is in the index`)
  }
})

t.test('each decision states what was decided', async (t) => {
  for (const name of decisionPages) {
    const text = readFileSync(`${decisions}/${name}`, 'utf8')
    t.match(text, /^\*\*Decision\.\*\* /m, `${name} states the decision`)
  }
})

/** The first cells of the table below a heading of the troubleshooting page; "…" stands for any text. */
function troubles(heading: string): string[] {
  const [, section = ''] = readFileSync('docs/troubleshooting.md', 'utf8').split(`\n## ${heading}\n`)
  const [table = ''] = section.split('\n## ')
  return Array.from(table.matchAll(/^\| (.*?) \|/gm), ([, cell = '']) => cell).slice(1)
}

const pattern = (text: string) =>
  new RegExp(
    `^${text
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('…', '.*')
      .replace(/\d{3,}/g, '\\d+')}`,
  )

t.test('each message of the troubleshooting page stops the start', { skip: sqliteSkipReason }, async (t) => {
  const STORE_URL = `sqlite:${join(t.testdir({}), 'plants.db')}`
  const store = await openStore(STORE_URL)
  t.teardown(() => store.close())
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const causes: Record<string, string>[] = [
    { PORT: String((server.address() as AddressInfo).port) },
    { STORE_URL },
    { STORE_URL: 'sqlite:package.json' },
    { STORE_URL: 'postgres://me:secret@127.0.0.1:1/plants' },
    { STORE_URL: 'plants.db' },
    { HOST: '0.0.0.0', ACCESS_TOKENS: '' },
    { ACCESS_TOKENS: 'token' },
    { TOKENS_FILE: 'missing.json' },
    { JWT_ISSUER: 'http://issuer.example', JWT_AUDIENCE: 'plants' },
  ]
  const messages = troubles('The service does not start')
  t.equal(messages.length, causes.length)
  for (const [index, cell] of messages.entries()) {
    const { code, stderr } = await spawnService(causes[index], coveredCode).untilEnded()
    t.equal(code, 1)
    t.match(stderr.replace('plant-store: ', ''), pattern(cell.replaceAll('`', '')))
  }
})

t.test('each response of the troubleshooting page has its cause', async (t) => {
  const busy = { ...openMemory(), create: async () => Promise.reject(new Unavailable('busy')) }
  const [service, unavailable] = [await createTestApp(t), await createTestApp(t, { store: busy })]
  const limited = await createTestApp(t, { limits: { requests: 1 } })
  const plant = { id: 1, name: 'a' }
  for (const { create } of [service, limited]) await create(plant)
  const sent = [
    service.create(plant, { authorization: undefined }),
    service.create(plant, { authorization: 'Bearer old' }),
    service.create(plant, { 'content-type': 'application/x-www-form-urlencoded' }),
    service.create({ ...plant, id: '1' }),
    service.create({ ...plant, name: 'b' }),
    limited.create(plant),
    unavailable.create(plant),
  ]
  const cells = troubles('A request fails')
  t.equal(cells.length, sent.length)
  for (const [index, cell] of cells.entries()) {
    const { status, headers, body } = (await sent[index]) as Awaited<(typeof sent)[number]>
    const [, code, message = body.message] = /^(\d+)(?:, `(.*)`)?/.exec(cell) ?? []
    t.same([String(status), body.message], [code, message], cell)
    t.equal('retry-after' in headers, cell.includes('Retry-After'), cell)
  }
})

/** Returns the blocks of a page in a language. */
const blocks = (page: string, language: string) =>
  Array.from(
    readFileSync(page, 'utf8').matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms')),
    ([, text = '']) => text,
  )

t.test('the responses that the README and getting started show are those of the service', async (t) => {
  const { create } = await createTestApp(t)
  const [, command = ''] = blocks('README.md', 'sh')
  const [, body = ''] = /-d '(.*)'/.exec(command) ?? []
  for (const _ of [1, 2]) t.equal((await create(body)).text, blocks('README.md', 'json')[0]?.trim())
  const conflict = await create({ ...JSON.parse(body), name: 'another' })
  t.same([conflict.status, `${conflict.text}\n`], [409, blocks('docs/getting-started.md', 'json')[0]])
})

const tool = coveredCode.tool.map((word) => `'${word}'`).join(' ')

t.test('the commands of the pages work', { skip: sqliteSkipReason }, async (t) => {
  const directory = t.testdir({ data: {} })
  const store = await openStore(`sqlite:${join(directory, 'data', 'plants.db')}`)
  await store.create({ id: 1n, name: 'a' })
  await store.close()
  /** Runs a block of shell commands, whose npm runs the command of the sources in this directory. */
  const run = (script: string) => {
    const npm = `npm() { shift; [ "$1" = --silent ] && shift; local name=$1; shift 2; ${tool} "$name" "$@"; }`
    const env = { ...process.env, STORE_URL: 'sqlite:data/plants.db' }
    const { status, stdout, stderr } = spawnSync('bash', ['-ec', `${npm}\n${script}`], {
      cwd: directory,
      env,
      encoding: 'utf8',
    })
    t.equal(status, 0, stderr)
    return stdout
  }
  const [create = ''] = blocks('docs/authentication.md', 'sh')
  const changes = readFileSync('docs/authentication.md', 'utf8').matchAll(/^\| `(npm run --silent token .*?)` \|/gm)
  const tokens = [create, ...Array.from(changes, ([, command = '']) => command)]
  t.match(run(tokens.join('\n')), /^plants_\S{49}\nNAME .*\nshop .*\nplants_\S{49}\n$/)
  t.notMatch(readFileSync(join(directory, 'tokens.json'), 'utf8'), 'shop', 'the last command revokes')
  const [, backup = '', move = ''] = blocks('docs/stores.md', 'sh')
  run(backup)
  run(move.replace('postgres://plants@localhost/plants', 'sqlite:moved.db'))
  t.equal(readFileSync(join(directory, 'plants.jsonl'), 'utf8'), '{"id":1,"name":"a"}\n')
  for (const name of ['copy.db', 'moved.db']) t.ok(existsSync(join(directory, name)), name)
})

t.test('the commands of the deployment page work as far as they run without their programs', async (t) => {
  const directory = t.testdir({ url: 'postgres://plants@database/plants' })
  /** Runs a block whose programs only print their arguments; `plant-store token create` runs here. */
  const run = (script: string) => {
    const names = ['docker', 'kubectl', 'sudo', 'npm']
    const programs = names.map((name) => `${name}() { echo ${name} "$@"; create "$@"; }`)
    const create = `create() { [[ "$*" =~ token.*create.--name.NAME ]] || return 0
      [[ "$*" =~ TOKENS_FILE=|--file ]] && ${tool} token create --name NAME --file tokens.json && rm tokens.json; }`
    return spawnSync('bash', ['-euc', [create, ...programs, script].join('\n')], { cwd: directory, encoding: 'utf8' })
  }
  const scripts = blocks('docs/deployment.md', 'sh')
  t.equal(scripts.length, 4)
  for (const script of scripts) {
    const { status, stdout, stderr } = run(script)
    t.equal(status, 0, stderr)
    t.match(stdout, /^plants_\S{49}$/m, 'it creates a token')
    for (const [file] of script.matchAll(/deploy\/[\w.-]+/g)) t.ok(existsSync(file), file)
  }
  t.match(readFileSync(join(directory, 'secrets/plant-store/pgpass'), 'utf8'), /^database:5432:plants:plants:\w{48}\n$/)
})

t.test('the first pages start a service in the same way', async (t) => {
  const [start, , init] = blocks('README.md', 'sh')
  t.equal(start, 'npm ci\nnpm start\n')
  t.equal(init, blocks('packages/fastify-contract/README.md', 'sh')[0])
  const [screen = ''] = readFileSync('README.md', 'utf8').split('\n## What you get\n')
  t.ok(screen.split('\n').length <= 50, 'both are on the first screen')
})

/** Where the commands of each page run: a test, or the reason why none runs them. */
const runs: Record<string, string> = {
  'README.md': 'test/service/drain.test.ts, test/examples/get-plant.long.ts and test/first-service.long.ts',
  'CONTRIBUTING.md': 'they are the checks themselves',
  'docs/authentication.md': 'test/documentation.test.ts',
  'docs/deployment.md': 'test/documentation.test.ts, without Docker, Kubernetes and systemd',
  'docs/getting-started.md': 'test/service/drain.test.ts and test/examples/get-plant.long.ts',
  'docs/stores.md': 'test/documentation.test.ts, and test/distributed/cassandra.distributed.ts with Java',
  'packages/create-fastify-contract/README.md': 'test/first-service.long.ts, with packages that no registry has',
  'packages/fastify-contract/README.md': 'test/first-service.long.ts and test/packages.long.ts',
  'packages/fastify-contract/docs/bundle.md': 'test/bundle.test.ts',
  'packages/fastify-contract/docs/client.md': 'test/bundle.test.ts',
  'packages/fastify-contract/docs/plugin.md': 'test/into.long.ts',
  'packages/fastify-contract/docs/telemetry.md':
    'they install packages; test/telemetry/engine-spans.long.ts runs the module',
}

t.test('it is known where the commands of each page run', async (t) => {
  const pages = markdownPages('.').filter((page) => blocks(page, 'sh').length > 0)
  t.same(pages.toSorted(), Object.keys(runs).toSorted())
  for (const [page, where] of Object.entries(runs)) {
    for (const [path] of where.matchAll(/[\w/.-]+\.ts\b/g)) t.ok(!path.includes('/') || existsSync(path), path)
    for (const script of blocks(page, 'sh')) t.equal(spawnSync('bash', ['-n', '-c', script]).status, 0, script)
  }
})

const security = readFileSync('SECURITY.md', 'utf8')

/** The rows of the tables: the requirement, what the service does, and the file and the title of the test. */
const risks = Array.from(
  security.matchAll(/^\| (API\d+ |\d+\.\d+\.\d+)(.*?) \| (.*) \| (.*?)\|$/gm),
  ([, id, , done, test]) => ({ id: String(id).trim(), done: String(done), test: String(test).trim() }),
)

t.test('every row names an existing test or the reason for none', async (t) => {
  for (const { id, done, test } of risks) {
    if (test === '') {
      t.match(done, /^not applicable|\*\*not met\*\*|the operator's|none is promised/, id)
      continue
    }
    const [, file = '', name = ''] = /^`([^`]+)` (.+)$/.exec(test) ?? []
    // The conformance suite of the stores is in src, because it is part of the package.
    const directories = ['test', 'packages/fastify-contract/test', 'packages/fastify-contract-cli/test', 'src']
    const path = directories.map((directory) => join(directory, file)).find((path) => file !== '' && existsSync(path))
    if (!t.ok(path, `${id}: ${test}`) || path === undefined) continue
    const source = readFileSync(path, 'utf8')
    t.ok(source.includes(`'${name}'`) || new RegExp(`\\b${name}\\b[,:]`).test(source), `${id}: ${file} has "${name}"`)
  }
})

t.test('all ten risks are listed, and no requirement twice', async (t) => {
  const ids = risks.map(({ id }) => id)
  t.same(
    ids.filter((id) => id.startsWith('API')),
    Array.from({ length: 10 }, (_, index) => `API${index + 1}`),
  )
  t.equal(new Set(ids).size, ids.length)
  t.equal(ids.length, Array.from(security.matchAll(/^\| /gm)).length - 2, 'the pattern matches each row')
})

const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' })
const skip = git('rev-parse').status !== 0 && 'NOT RUN: this is no clone of git'

t.test('git ignores the files that the documented commands create', { skip }, async (t) => {
  const made = [
    'data/plants.db',
    'plants.db',
    'plants.db-wal',
    'plants.db-lock',
    'copy.db',
    'tokens.json',
    'tokens.json-lock',
    'my-store.js',
    'my-store.test.js',
    'plants-a1B2c3/plants.db',
    'secrets/password',
    'dist/sbom.cdx.json',
    'plant-store-1.0.0.tgz',
  ]
  t.same(
    git('check-ignore', ...made)
      .stdout.trim()
      .split('\n'),
    made,
  )
  t.equal(git('ls-files', '--ignored', '--cached', '--exclude-standard').stdout, '', 'git ignores no committed file')
})
