import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { nodeProblem } from '../../packages/fastify-contract/src/cli/node-version.ts'
import { tokenHelp } from '../../packages/fastify-contract/src/cli/token.ts'
import { lockTokenFile } from '../../src/cli/lock-token-file.ts'
import { migrateHelp } from '../../src/cli/migrate.ts'
import { plantsHelp } from '../../src/cli/plants.ts'
import { sqliteHelp } from '../../src/cli/sqlite-commands.ts'
import { NoSqlite } from '../../src/store/sqlite/sqlite-driver.ts'
import { nodeCommand, oldNode, run } from '../support/child-process.ts'
import { exactly } from '../support/exact-pattern.ts'
import { startService } from '../support/service-process.ts'
import { token } from '../support/test-app.ts'

const plantStore = (t: Test, args: string[], environment = {}) => run(t, 'src/cli/main.ts', environment, args)

t.test('serve runs the server', async (t) => {
  const command = [...nodeCommand('src/cli/main.ts'), 'serve']
  const { create, storeUrl, stop, banner } = await startService(t, {}, { command })
  t.equal(storeUrl, 'memory:')
  t.equal((await create('{"id":1,"name":"a"}')).status, 200)
  t.hasStrict(await stop(), { code: 0, signal: null, stderr: banner })

  t.same(await plantStore(t, ['serve'], { ACCESS_TOKENS: token, PORT: 'x' }).untilEnded(), {
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
      /^plant-store serve\n(.*\n)*TOKENS_FILE .*\n(.*\n)*docs\/configuration\.md lists all variables\.\n$/,
    ],
    [['token', '--help'], exactly(tokenHelp('plant-store token'))],
    [['restore', '--help'], exactly(sqliteHelp)],
    [['migrate', '--help'], exactly(migrateHelp)],
    [['plants', '--help'], exactly(plantsHelp)],
    [['--version'], exactly(`${version}\n`)],
  ]
  for (const [args, pattern] of answers) {
    const { code, stdout, stderr } = await plantStore(t, args).untilEnded()
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
    const { code, stdout, stderr } = await plantStore(t, args).untilEnded()
    t.same([code, stdout, stderr], [2, '', `plant-store: ${message}\n`])
  }
})

t.test('without a command the help is printed to stderr, with exit code 2', async (t) => {
  const { code, stdout, stderr } = await plantStore(t, []).untilEnded()
  t.same([code, stdout], [2, ''])
  t.match(stderr, /^Usage: plant-store COMMAND/)
})

t.test('a missing file is reported by its name', async (t) => {
  const STORE_URL = `sqlite:${join(t.testdir({}), 'plants.db')}`
  const { code, stdout, stderr } = await plantStore(t, ['plants', 'import', 'none.jsonl'], { STORE_URL }).untilEnded()
  t.same([code, stdout, stderr], [1, '', 'plant-store: none.jsonl does not exist\n'])
})

t.test('a reader that closes its pipe is no error', async (t) => {
  const { child, untilEnded } = plantStore(t, ['--help'])
  child.stdout.destroy()
  t.match(await untilEnded(), { code: 0, signal: null, stderr: '' })
})

t.test('a Node version below that of package.json is rejected', async (t) => {
  for (const version of ['20.19.0', '20.20.1', '22.0.0', '24.21.0'])
    t.equal(nodeProblem(version, '>=20.19.0'), undefined, version)
  for (const version of ['18.20.8', '20.18.3', '20.9.0', '9.0.0'])
    t.equal(nodeProblem(version, '>=20.19.0'), `Node ${version} is too old; use Node 20.19.0 or newer`)
})

t.test('plant-store reports an old Node in one line before it uses newer features', async (t) => {
  const { code, stdout, stderr } = await run(t, 'src/cli/main.ts', oldNode, ['serve']).untilEnded()
  t.same([code, stdout, stderr], [1, '', 'plant-store: Node 18.20.8 is too old; use Node 20.19.0 or newer\n'])
})

const withoutSqlite = async () => ({
  lockFile(): never {
    throw new NoSqlite('it is not installed', 'install it', undefined)
  },
  NoSqlite,
})

t.test('without SQLite a file is locked by flock', async (t) => {
  const path = join(t.testdir({ 'tokens.json-lock': '' }), 'tokens.json-lock')
  const unlock = await lockTokenFile(path, 1_000, withoutSqlite)
  t.equal(await lockTokenFile(path, 200, withoutSqlite), undefined, 'it is locked')
  unlock?.()
  const again = await lockTokenFile(path, 5_000, withoutSqlite)
  t.type(again, 'function')
  again?.()
})

t.test('a file that SQLite cannot lock is not locked', async (t) => {
  const failing = async () => ({
    lockFile(): never {
      throw new Error('busy')
    },
    NoSqlite,
  })
  t.equal(await lockTokenFile(join(t.testdir({}), 'tokens.json-lock'), 50, failing), undefined)
})
