import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { run } from '../support/process.ts'
import { token } from '../support/service.ts'
import { runTool } from './tools.ts'

const skip = (await runTool('psql', '--version'))?.code === 0 ? false : 'NOT RUN: there is no psql'

t.test('the database of compose.yaml, and its password from a file', { skip }, async (t) => {
  const password = 'of-the-tests'
  const server = await startPostgres({ password })
  t.teardown(() => server.close())
  const directory = t.testdir({ password: `${password}\n` })
  const script = join(directory, 'postgres.sql')
  const text = readFileSync('deploy/postgres.sql', 'utf8')
  writeFileSync(script, text.replace('/run/secrets/password', join(directory, 'password')))
  const psql = (...args: string[]) => runTool('psql', '--no-psqlrc', '--set=ON_ERROR_STOP=1', ...args, server.url())
  t.match(await psql(`--file=${script}`), { code: 0 })
  t.match(
    await psql('--command=SELECT'),
    { code: 2, output: /password authentication failed/ },
    'no superuser comes in',
  )

  const PGPASSFILE = join(directory, 'pgpass')
  writeFileSync(PGPASSFILE, `127.0.0.1:${server.port}:plants:plants:${password}\n`, { mode: 0o600 })
  const STORE_URL = `postgres://plants@127.0.0.1:${server.port}/plants`
  const service = run(t, 'src/server.ts', { ACCESS_TOKENS: token, STORE_URL, PGPASSFILE })
  const [, url] = await service.find('stderr', / on (\S+), store /)
  const answer = await fetch(`${url}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"id":1,"name":"a"}',
  })
  t.equal(answer.status, 200, 'it may make its table, and a plant')
  service.child.kill('SIGTERM')
  t.match(await service.ended, { code: 0 })
})
