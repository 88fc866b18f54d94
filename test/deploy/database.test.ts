import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { startService } from '../support/service-process.ts'
import { runTool } from './run-tool.ts'

const skip = (await runTool('psql', '--version'))?.code === 0 ? false : 'NOT RUN: there is no psql'

t.test('the database of compose.yaml reads its password from a file', { skip }, async (t) => {
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
  const service = await startService(t, { STORE_URL, PGPASSFILE })
  t.equal((await service.create('{"id":1,"name":"a"}')).status, 200, 'it may make its table, and a plant')
  t.match(await service.stop(), { code: 0 })
})
