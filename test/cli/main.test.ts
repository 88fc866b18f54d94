import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { tokenHelp } from '../../packages/fastify-contract/src/cli/token.ts'
import { migrateHelp } from '../../src/cli/migrate.ts'
import { plantsHelp } from '../../src/cli/plants.ts'
import { sqliteHelp } from '../../src/cli/sqlite-commands.ts'
import { nodeCommand, run } from '../support/child-process.ts'
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
    [['--help'], /^plant-store serve .*\n(.*\n)*plant-store --version\n$/],
    [['-h'], /^plant-store serve .*\n(.*\n)*plant-store --version\n$/],
    [
      ['serve', '--help'],
      /^plant-store serve\n(.*\n)*TOKENS_FILE .*\n(.*\n)*docs\/configuration\.md lists all variables\.\n$/,
    ],
    [['token', '--help'], exactly(tokenHelp)],
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
  const command = 'unknown command, allowed: serve, token, backup, restore, check, migrate, plants, --help, --version'
  const refusals: [string[], string][] = [
    [[], command],
    [['sevre'], command],
    [['serve', '--port', '80'], "Unknown option '--port', allowed: --help"],
    [['serve', 'plants'], 'Unexpected argument, allowed: --help'],
  ]
  for (const [args, message] of refusals) {
    const { code, stdout, stderr } = await plantStore(t, args).untilEnded()
    t.same([code, stdout, stderr], [2, '', `plant-store: ${message}\n`])
  }
})
