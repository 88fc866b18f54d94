import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { oldNode, run } from 'fastify-contract-test-support/child-process'
import { exactly, usageError } from 'fastify-contract-test-support/exact-pattern'
import { until } from 'fastify-contract-test-support/poll'
import { writeTokenFile } from 'fastify-contract-test-support/token-files'
import t, { type Test } from 'tap'
import { watchTokenFile } from '../../packages/fastify-contract/src/auth/token-verifier.ts'
import { token as tokenCommand, tokenHelp } from '../../packages/fastify-contract/src/service/token-command.ts'
import { readTokens, updateTokenFile } from '../../packages/fastify-contract/src/service/token-file-update.ts'
import { lockTokenFile } from '../../src/cli/lock-token-file.ts'
import { migrateHelp } from '../../src/cli/migrate.ts'
import { nodeProblem } from '../../src/cli/node-version.ts'
import { plantsHelp } from '../../src/cli/plants.ts'
import { sqliteHelp } from '../../src/cli/sqlite-commands.ts'
import { lockFile, NoSqlite } from '../../src/store/sqlite/sqlite-driver.ts'
import { copyProject } from '../support/project-copy.ts'
import { coveredCode, runTool } from '../support/service-code.ts'
import { startService } from '../support/service-process.ts'
import { token } from '../support/test-app.ts'

t.test('serve runs the server', async (t) => {
  const command = [...coveredCode.tool, 'serve']
  const { create, storeUrl, stop, banner } = await startService(t, {}, { command })
  t.equal(storeUrl, 'memory:')
  t.equal((await create('{"id":1,"name":"a"}')).status, 200)
  t.hasStrict(await stop(), { code: 0, signal: null, stderr: banner })

  t.same(await runTool(t, ['serve'], { ACCESS_TOKENS: token, PORT: 'x' }).untilEnded(), {
    code: 1,
    signal: null,
    stdout: '',
    stderr: 'plant-store: PORT is "x"; expected an integer from 0 to 65535\n',
  })
})

t.test('--help and --version are printed', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const answers: [string[], RegExp][] = [
    [['--help'], /^Usage: plant-store COMMAND \[OPTIONS\]\n(.*\n)*serve .*\n(.*\n)*plant-store COMMAND --help .*\n$/],
    [['-h'], /^Usage: plant-store COMMAND \[OPTIONS\]\n(.*\n)*serve .*\n(.*\n)*plant-store COMMAND --help .*\n$/],
    [
      ['serve', '--help'],
      /^plant-store serve\n(.*\n)*TOKENS_FILE .*\n(.*\n)*See docs\/configuration\.md for all variables\.\n$/,
    ],
    [['token', '--help'], exactly(tokenHelp('plant-store token'))],
    [['restore', '--help'], exactly(sqliteHelp)],
    [['migrate', '--help'], exactly(migrateHelp)],
    [['plants', '--help'], exactly(plantsHelp)],
    [['--version'], exactly(`${version}\n`)],
  ]
  for (const [args, pattern] of answers) {
    const { code, stdout, stderr } = await runTool(t, args).untilEnded()
    t.same([code, stderr], [0, ''])
    t.match(stdout, pattern)
  }
})

t.test('wrong arguments are reported in one line, with exit code 2', async (t) => {
  const commands = 'serve, token, backup, restore, check, migrate, plants, --help or --version'
  const refusals: [string[], string][] = [
    [['sevre'], `unknown command 'sevre'; expected ${commands}`],
    [['serve', '--port', '80'], "unexpected option '--port'; expected --help"],
    [['serve', 'plants'], "unexpected argument 'plants'; expected --help"],
  ]
  for (const [args, message] of refusals) {
    const { code, stdout, stderr } = await runTool(t, args).untilEnded()
    t.same([code, stdout, stderr], [2, '', `plant-store: ${message}\n`])
  }
})

t.test('without a command the help is printed to stderr, with exit code 2', async (t) => {
  const { code, stdout, stderr } = await runTool(t, []).untilEnded()
  t.same([code, stdout], [2, ''])
  t.match(stderr, /^Usage: plant-store COMMAND/)
})

t.test('a missing file is reported by its name', async (t) => {
  const STORE_URL = `sqlite:${join(t.testdir({}), 'plants.db')}`
  const { code, stdout, stderr } = await runTool(t, ['plants', 'import', 'none.jsonl'], { STORE_URL }).untilEnded()
  t.same([code, stdout, stderr], [1, '', 'plant-store: none.jsonl does not exist\n'])
})

t.test('a reader that closes its pipe is no error', async (t) => {
  const { child, untilEnded } = runTool(t, ['--help'])
  child.stdout.destroy()
  t.match(await untilEnded(), { code: 0, signal: null, stderr: '' })
})

t.test('a Node version below that of package.json is rejected', async (t) => {
  for (const version of ['20.19.3', '20.20.1', '22.0.0', '24.21.0'])
    t.equal(nodeProblem(version, '>=20.19.3'), undefined, version)
  for (const version of ['18.20.8', '20.18.3', '20.9.0', '9.0.0'])
    t.equal(nodeProblem(version, '>=20.19.3'), `Node ${version} is too old; use Node 20.19.3 or newer`)
})

t.test('plant-store reports an old Node in one line before it uses newer features', async (t) => {
  const { code, stdout, stderr } = await runTool(t, ['serve'], oldNode).untilEnded()
  t.same([code, stdout, stderr], [1, '', 'plant-store: Node 18.20.8 is too old; use Node 20.19.3 or newer\n'])
})

const withoutSqlite = async () => ({
  lockFile(): never {
    throw new NoSqlite(new Error('no binary'))
  },
  NoSqlite,
})

t.test('without SQLite a file is locked by flock', async (t) => {
  const unlock = () => {}
  const flock = async (path: string, timeout: number) => (path === 'a-lock' && timeout > 200 ? unlock : undefined)
  t.equal(await lockTokenFile('a-lock', 1_000, flock, withoutSqlite), unlock)
  t.equal(await lockTokenFile('a-lock', 200, flock, withoutSqlite), undefined, 'it is locked')
})

const noFlock = async () => () => {}

t.test('a file that SQLite cannot lock is not locked', async (t) => {
  const failing = async () => ({
    lockFile(): never {
      throw new Error('busy')
    },
    NoSqlite,
  })
  t.equal(await lockTokenFile(join(t.testdir({}), 'tokens.json-lock'), 50, noFlock, failing), undefined)
})

const command = (args: string[], environment: Record<string, string>) =>
  tokenCommand(args, environment, {
    command: 'plant-store token',
    tokenPrefix: 'plants_',
    lockFile: async (path, timeout) => lockFile(path, timeout),
  })

const runToken = (t: Test, environment: Record<string, string>, ...args: string[]) =>
  runTool(t, ['token', ...args], environment)

const namesOf = async (file: string) => (await readTokens(file)).map(({ name }) => name)

t.test('a token is accepted from its creation until it is revoked', async (t) => {
  const TOKENS_FILE = join(t.testdir({}), 'tokens.json')
  const made = await runToken(
    t,
    { TOKENS_FILE },
    'create',
    '--name',
    'shop',
    '--scope',
    'plants:write',
    '--note',
    'for the shop',
  ).untilEnded()
  t.hasStrict(made, { code: 0, stderr: `${TOKENS_FILE}: the token of shop does not expire\n` })
  t.match(made.stdout, /^plants_[\w-]{49}\n$/, 'stdout has only the token')

  const rotated = await runToken(t, { TOKENS_FILE }, 'rotate', '--name=shop', '--overlap=1h').untilEnded()
  t.match(rotated, {
    code: 0,
    stdout: /^plants_[\w-]{49}\n$/,
    stderr: /^\S+: the new token of shop does not expire; the previous ones expire by \S+\n$/,
  })
  const [first, second] = [made.stdout.trim(), rotated.stdout.trim()]

  const listed = await runToken(t, { TOKENS_FILE }, 'list').untilEnded()
  t.hasStrict(listed, { code: 0, stderr: '' })
  t.match(listed.stdout, /^NAME .*\n(shop .* active {2}plants:write {2}for the shop\n){2}$/)
  for (const shown of [first, second]) t.notMatch(listed.stdout + readFileSync(TOKENS_FILE, 'utf8'), shown)

  const [loaded, errors]: [number[], Error[]] = [[], []]
  const { verify, close } = await watchTokenFile(TOKENS_FILE, {
    load: (count) => loaded.push(count),
    error: (error) => errors.push(error),
  })
  t.teardown(close)
  t.same([verify(first), verify(second)], Array(2).fill({ name: 'shop', scopes: ['plants:write'] }))
  const digest = /^shop +([\da-f]{8}) /m.exec(listed.stdout)?.[1] ?? ''
  const revoked = await runToken(t, { TOKENS_FILE }, 'revoke', '--digest', digest).untilEnded()
  t.same(revoked, { code: 0, signal: null, stdout: '', stderr: `${TOKENS_FILE}: 1 token is revoked\n` })
  await until(() => verify(first) === undefined, 'the revoked token is rejected', 2_000)
  t.same([verify(first), verify(second)?.name], [undefined, 'shop'])
  t.same([loaded, errors], [[1, 1], []])
})

t.test('concurrent commands lose no change, and readers find a complete file', async (t) => {
  const file = writeTokenFile(t)
  const names = Array.from({ length: 6 }, (_, index) => `client-${index}`)
  let ended = false
  const reader = (async () => {
    let reads = 0
    for (; !ended; reads++) await readTokens(file)
    return reads
  })()
  const commands = names.map((name) => runToken(t, {}, 'create', '--name', name, '--file', file).untilEnded())
  const made = await Promise.all(commands).finally(() => {
    ended = true
  })
  t.ok((await reader) > 0)
  for (const { code } of made) t.equal(code, 0)
  t.same((await namesOf(file)).sort(), names)
})

t.test('a killed command leaves no lock', async (t) => {
  const file = writeTokenFile(t)
  const script = join(dirname(file), 'stuck.mjs')
  writeFileSync(
    script,
    `import { updateTokenFile } from ${JSON.stringify(resolve('packages/fastify-contract/src/service/token-file-update.ts'))}
    import { lockFile } from ${JSON.stringify(resolve('src/store/sqlite/sqlite-driver.ts'))}
    await updateTokenFile(${JSON.stringify(file)}, () => { console.log('locked'); for (;;); }, lockFile)`,
  )
  const stuck = run(t, script)
  await stuck.find('stdout', /^locked$/m)
  await stuck.stop('SIGKILL')
  t.match(await command(['create', '--name', 'a', '--file', file], {}), { result: /^plants_[\w-]{49}\n$/ })
})

t.test('an update of the token file keeps the lock that its process holds', async (t) => {
  const file = writeTokenFile(t)
  const lock = `${file}-lock`
  const release = lockFile(lock, 1)
  // With another kind of lock, this update does not wait for the first.
  await updateTokenFile(
    file,
    (entries) => ({ entries }),
    async () => () => {},
  )
  const script = join(dirname(file), 'other.mjs')
  writeFileSync(
    script,
    `import { codeOf, lockFile } from ${JSON.stringify(resolve('src/store/sqlite/sqlite-driver.ts'))}
    try { lockFile(${JSON.stringify(lock)}, 1); console.log('locked') } catch (error) { console.log(codeOf(error)) }`,
  )
  const { stdout } = await run(t, script).untilEnded()
  t.equal(stdout, 'SQLITE_BUSY\n')
  release()
})

t.test('the command works in a fresh clone', async (t) => {
  const cwd = copyProject(t)
  const args = ['run', '--silent', 'token', '--', 'create', '--name', 'a', '--file', 'tokens.json']
  const { stdout } = await promisify(execFile)('npm', args, { cwd, timeout: 60_000 })
  t.match(stdout, /^plants_[\w-]{49}\n$/)
})

t.test('the token file comes from the option, the environment or tokens.json', async (t) => {
  const directory = t.testdir({})
  const [one, two] = [join(directory, 'one'), join(directory, 'two')]
  const create = (name: string, environment: Record<string, string>, ...file: string[]) =>
    command(['create', '--name', name, ...file], environment)
  await create('a', { TOKENS_FILE: one })
  await create('b', { TOKENS_FILE: one }, '--file', two)
  t.same(await namesOf(one), ['a'])
  t.same(await namesOf(two), ['b'])
  const here = runTool(t, ['token', 'create', '--name', 'c'], { TOKENS_FILE: '' }, directory)
  t.hasStrict(await here.untilEnded(), { code: 0, stderr: 'tokens.json: the token of c does not expire\n' })
  t.same(await namesOf(join(directory, 'tokens.json')), ['c'])
})

t.test('a failure is reported in one line with the file', async (t) => {
  const file = writeTokenFile(t)
  const refusals: [string[], string][] = [
    [['rotate', '--name', 'a', '--file', file], `${file}: a has no active token; create one`],
    [['revoke', '--name', 'a', '--file', file], `${file}: no token matches`],
    [
      ['list', '--file', `${file}.none`],
      `${file}.none: does not exist; create a token, or set --file or TOKENS_FILE to another file`,
    ],
    [
      ['create', '--name', 'a', '--file', `${file}.none/a`],
      `${file}.none/a: its directory does not exist; create the directory`,
    ],
  ]
  for (const [args, message] of refusals)
    await t.rejects(command(args, {}), { name: /^Error$/, message: exactly(message) })
  const { code, stdout, stderr } = await runToken(t, {}, 'revoke', '--name', 'a', '--file', file).untilEnded()
  t.same([code, stdout, stderr], [1, '', `plant-store: ${file}: no token matches\n`])
})

t.test('wrong arguments are reported before a file is touched', async (t) => {
  const directory = t.testdir({})
  const TOKENS_FILE = join(directory, 'tokens.json')
  const create = 'expected --name, --scope, --expires, --note, --file, --help'
  const refusals: [string[], string][] = [
    [[], 'token: missing command; expected create, list, rotate, revoke'],
    [['toString'], "token: unknown command 'toString'; expected create, list, rotate, revoke"],
    [['create', '--nmae', 'a'], `unexpected option '--nmae'; ${create}`],
    [['create', '--overlap', '1h', '--name', 'a'], `unexpected option '--overlap'; ${create}`],
    [['create', '--name'], `Option '--name <value>' argument missing; ${create}`],
    [['create', '--name', '--note'], `Option '--name' argument is ambiguous; ${create}`],
    [['create', 'a.b'], `unexpected argument 'a.b'; ${create}`],
    [['create'], '--name is missing; expected 1 to 64 letters, digits and ._-'],
    [['list', '--name', 'a'], "unexpected option '--name'; expected --file, --help"],
    [['revoke'], 'specify --name or --digest'],
  ]
  for (const [args, message] of refusals)
    await t.rejects(command(args, { TOKENS_FILE }), usageError(message), args.join(' '))
  const { code, stdout, stderr } = await runToken(t, { TOKENS_FILE }, 'create').untilEnded()
  t.same([code, stdout], [2, ''])
  t.equal(stderr, 'plant-store: --name is missing; expected 1 to 64 letters, digits and ._-\n')
  t.notOk(existsSync(`${TOKENS_FILE}-lock`))
})

t.test('help is printed', async (t) => {
  for (const args of [['--help'], ['-h'], ['create', '--help'], ['revoke', '-h']]) {
    const { result, message } = await command(args, {})
    t.equal(result, tokenHelp('plant-store token'))
    t.equal(message, undefined)
  }
})
