import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from 'fastify-contract-test-support/child-process'
import t, { type Test } from 'tap'
import { checks } from '../../src/contract-test/checks/checks.ts'
import { ownPath } from '../support/own-path.ts'

const program = resolve(ownPath('test/cli/contract-test-program.ts'))
const fastify = JSON.stringify(import.meta.resolve('fastify'))

const document = JSON.stringify(
  { openapi: '3.1.0', info: { title: 'Pets', version: '1.0.0' }, paths: { '/pets': { post: {} } } },
  null,
  2,
)
const instance = `const app = fastify()\napp.get('/pets', async () => 'pets')\n`
const files = {
  'openapi.json': document,
  'plugin.mjs': `export default async (app) => { app.get('/pets', async () => 'of a plugin') }\n`,
  'instance.ts': `import fastify from ${fastify}\n${instance}export default app as object\n`,
  'create.mjs': `import fastify from ${fastify}\nexport const createApp = async (verifyToken, options) => {\n  const app = fastify()\n  app.get('/pets', async () => JSON.stringify([typeof verifyToken, Object.keys(options)]))\n  return app\n}\n`,
  'none.mjs': 'setInterval(() => {}, 1_000)\nexport const createApp = () => 7\n',
  'empty.mjs': 'export const other = 7\n',
  'settings.json': '{"off":{"*":{"valid-body":"it is slow"},"createPet":{"repeated-get":"it has a clock"}}}',
  'wrong.json': '{"on":{}}',
  'broken.json': '{\n  "off": { x }\n}',
  src: {
    'app.ts': `import fastify from ${fastify}\n${instance}setInterval(() => {}, 1_000)\nexport default app as object\n`,
  },
  generated: {
    'contract.mjs': `export const contract = { documentText: '{}', routes: { operations: [{ security: [{ key: ['a'] }] }] } }\n`,
  },
}

/** Starts the command in a directory of a project. */
const start = (t: Test, cwd: string, args: string[], environment: Record<string, string> = {}) =>
  run(t, program, { GITHUB_ACTIONS: '', STAND_IN: '', ...environment }, args, cwd)

/** Returns how the command ends in a new project. */
const ended = (t: Test, args: string[], environment?: Record<string, string>) =>
  start(t, t.testdir(files), args, environment).untilEnded()

/** Returns what the run was given, which a summary without failures tells in its title. */
function toldBy(stdout: string): Record<string, unknown> {
  const [text = ''] = /\{.*\}(?= 1\.2\.0 at )/.exec(stdout) ?? []
  return JSON.parse(text)
}

t.test('the command tests the application of a project by its generated contract, and ends', async (t) => {
  const { code, stdout, stderr } = await ended(t, [])
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.same(toldBy(stdout), { reply: 'pets', document: true, off: { '*': {} } })
  t.match(stdout, /\nno failures\n$/)
})

t.test('the application is a plugin, an instance, or what createApp returns', async (t) => {
  const cwd = t.testdir(files)
  const replies: unknown[] = []
  for (const module of ['plugin.mjs', 'instance.ts', 'create.mjs']) {
    const { stdout } = await start(t, cwd, ['openapi.json', '--app', module]).untilEnded()
    replies.push(toldBy(stdout).reply)
    t.equal(toldBy(stdout).document, 'openapi.json')
  }
  t.same(replies, ['of a plugin', 'pets', '["function",["contract","limits"]]'])
})

t.test('each option reaches the run', async (t) => {
  const numbers = ['--seed', '0', '--requests', '50', '--seconds', '9']
  const others = ['--operation', 'a', '--operation', 'GET /pets', '--off', 'empty-body', '--settings', 'settings.json']
  const { stdout } = await ended(t, ['--url', 'http://127.0.0.1:1', ...numbers, ...others])
  t.same(toldBy(stdout), {
    reply: 'http://127.0.0.1:1',
    document: 'openapi.json',
    seed: 0,
    requests: 50,
    seconds: 9,
    operations: ['a', 'GET /pets'],
    off: {
      '*': { 'valid-body': 'it is slow', 'empty-body': 'turned off by --off' },
      createPet: { 'repeated-get': 'it has a clock' },
    },
  })
})

t.test('a test that cannot run exits with 2 and one line', async (t) => {
  const cwd = t.testdir({ ...files, other: {} })
  const failing: [args: string[], message: RegExp, environment?: Record<string, string>][] = [
    [['--no'], /^test: unexpected option '--no'; expected DOCUMENT, --app, /],
    [['--url', 'http://a', '--app', 'plugin.mjs'], /^test: --url and --app exclude each other; leave one out\n$/],
    [['--url', 'http://a', 'none.json'], /^test: none\.json does not exist; name an OpenAPI document\n$/],
    [['--seed', '1.5'], /^test: --seed is "1\.5"; expected an integer from 0 to 2147483647\n$/],
    [['--requests', '0'], /^test: --requests is "0"; expected an integer from 1 to 2147483647\n$/],
    [['--settings', 'none.json'], /^test: --settings: none\.json cannot be read: ENOENT/],
    [['--settings', 'broken.json'], /^test: broken\.json:2:12: .*; correct the JSON\n$/],
    [
      ['--url', 'http://a', '--settings', 'settings.json'],
      /^test: settings\.json: off of a: unknown check "b"\n$/,
      { STAND_IN: 'unknown check' },
    ],
    [['--settings', 'wrong.json'], /^test: wrong\.json: unknown member "on"; expected "off"\n$/],
    [['--app', 'no.mjs'], /^test: --app: no\.mjs does not exist; name the module of the application\n$/],
    [['--app', 'none.mjs'], /^test: none\.mjs: createApp returns no Fastify instance; return the one that it makes\n$/],
    [['--app', 'empty.mjs'], /^test: empty\.mjs has neither createApp nor a plugin as its default export; /],
    [['--url', 'http://a'], /^test: http:\/\/a cannot be reached; start the server\n$/, { STAND_IN: 'unreachable' }],
  ]
  const ends = await Promise.all(failing.map(([args, , environment]) => start(t, cwd, args, environment).untilEnded()))
  for (const [index, { code, stdout, stderr }] of ends.entries()) {
    const [args, message] = failing[index] as (typeof failing)[number]
    t.match({ code, stdout, stderr }, { code: 2, stdout: '', stderr: message }, args.join(' '))
  }
  const { code, stderr } = await start(t, join(cwd, 'other'), []).untilEnded()
  t.equal(code, 2)
  t.match(
    stderr,
    /^test: there is no src\/app\.ts; name the module of the application with --app, or a server with --url/,
  )
})

const secret = 'a-secret-token'
const failing = { STAND_IN: 'failing', CONTRACT_TEST_TOKEN: secret }

t.test('failures exit with 1, with the place of the operation and the command that repeats it', async (t) => {
  const cwd = t.testdir(files)
  const args = ['--url', 'http://127.0.0.1:9/', '--requests', '50', '--junit', 'report.xml']
  const { code, stdout } = await start(t, cwd, [...args, '--github'], failing).untilEnded()
  t.equal(code, 1)
  t.match(
    stdout,
    /^ {2}repeat {4}npx fastify-contract test --url 'http:.*' --requests 50 --seed 7 --operation 'createPet'$/m,
  )
  t.match(stdout, "'http://127.0.0.1:9/pets?key=")
  const [, token = ''] = /^::stop-commands::([\w-]{36})\n/.exec(stdout) ?? []
  const [report = '', annotations = ''] = stdout.split(`::${token}::\n`)
  t.notMatch(report.slice(1), /^\s*::(?!stop)/m)
  t.match(annotations, /^::error file=openapi\.json,line=\d+,col=\d+,title=createPet%3A no-server-error::[^\n]*\n$/)
  const xml = readFileSync(join(cwd, 'report.xml'), 'utf8')
  t.match(xml, /^<\?xml .*\n<testsuites .* failures="1"/)
  for (const text of [stdout, xml]) t.notOk(text.includes(secret), 'the secret of a variable is in no report')

  const json = await start(t, cwd, [...args, '--json'], { ...failing, GITHUB_ACTIONS: 'true' }).untilEnded()
  t.equal(json.code, 1)
  t.match(JSON.parse(json.stdout), { version: 1, failures: [{ place: /^openapi\.json:\d+:\d+$/ }] })
  t.match(json.stderr, /^::error file=openapi\.json,/)
  for (const text of [json.stdout, json.stderr]) t.notOk(text.includes(secret))
  t.notOk(json.stdout.includes(Buffer.from(secret).toString('base64')))

  const own = await start(t, cwd, [], failing).untilEnded()
  t.match(own, { code: 1, stdout: "'http://127.0.0.1:3000/pets?key=" })
})

t.test('a run in which no operation accepts a request exits with 2', async (t) => {
  const { code, stdout } = await ended(t, ['--url', 'http://127.0.0.1:9'], { STAND_IN: 'untested' })
  t.equal(code, 2)
  t.match(stdout, /^createPet is not tested: no credentials$/m)
  t.match(stdout, /\nnothing was tested\n$/)
})

t.test('SIGINT ends the run, whose report says so', async (t) => {
  const { find, stop } = start(t, t.testdir(files), ['--url', 'http://127.0.0.1:9'], { STAND_IN: 'wait' })
  await find('stderr', /waiting/)
  t.match(await stop('SIGINT'), { code: 2, stdout: /seed 7; interrupted\nno failures\n$/ })
})

t.test('--list-checks prints each check, and the help has lines of at most 120 columns', async (t) => {
  const { code, stdout } = await ended(t, ['--list-checks'])
  const names = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ', 1)[0])
  t.equal(code, 0)
  t.same(
    names,
    checks.map(({ name }) => name),
  )
  const help = await ended(t, ['--help'])
  for (const line of help.stdout.split('\n')) t.ok(line.length <= 120, line)
})
