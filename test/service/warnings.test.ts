import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStore } from '../../src/store/open.ts'
import { builtCode } from '../support/service-code.ts'
import { startService } from '../support/service-process.ts'
import { sqliteSkipReason } from '../support/sqlite.ts'

const [node = '', ...command] = builtCode.command

/** Returns the URL of a SQLite file, whose driver must print no warning either, where there is a driver. */
const storeUrl = (t: Test) => (sqliteSkipReason === false ? `sqlite:${join(t.testdir({}), 'plants.db')}` : 'memory:')

t.test('the built service prints no warning of Node or Fastify, not even of a pending deprecation', async (t) => {
  const options = { command: [node, '--pending-deprecation', ...command] }
  const service = await startService(t, { STORE_URL: storeUrl(t) }, options)
  t.equal((await service.create('{"id":1,"name":"a"}')).status, 200)
  t.equal((await service.create('{"id":')).status, 400)
  t.equal((await service.call('GET', '/none')).status, 404)
  for (const page of ['/readyz', '/metrics', '/docs']) await service.page(page)
  t.same(await service.stop(), { code: 0, signal: null, stdout: service.output.stdout, stderr: service.banner })
})

t.test('commands of the built service print no warning', async (t) => {
  const [, ...tool] = builtCode.tool
  const directory = t.testdir({})
  const file = join(directory, 'tokens.json')
  const [plants, copy] = [join(directory, 'plants.db'), join(directory, 'copy.db')]
  const commands = [['--help'], ['token', 'create', '--name', 'a', '--file', file], ['token', 'list', '--file', file]]
  if (sqliteSkipReason === false) {
    await (await openStore(`sqlite:${plants}`)).close()
    commands.push(['backup', copy], ['check', copy], ['restore', copy])
  }
  const env = { ...process.env, STORE_URL: `sqlite:${plants}` }
  for (const args of commands) {
    const { status, stderr } = spawnSync(node, ['--pending-deprecation', ...tool, ...args], { encoding: 'utf8', env })
    t.equal(status, 0, stderr)
    t.notMatch(stderr, /Warning:/, args.join(' '))
  }
})
