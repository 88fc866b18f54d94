import t, { type Test } from 'tap'
import { query } from '../../scripts/postgres/temporary-postgres.ts'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { openPostgres } from '../../src/store/postgres/postgres-store.ts'
import { startServer } from './postgres-stores.ts'

/** Opens the database; closes it when the test ends. */
async function open(t: Test, url: string) {
  const store = await openPostgres(url)
  t.teardown(() => store.close())
  return store
}

t.test('a start logs no server error', async (t) => {
  const server = await startServer(t)
  await open(t, server.url())
  const begin = server.log.length
  await open(t, server.url())
  t.equal(server.log.slice(begin), '')
})

t.test('a user without CREATE rights uses a table that its owner made', async (t) => {
  const url = await testDatabase(t)
  const role = new URL(url).pathname.slice(1)
  const guest = Object.assign(new URL(url), { username: role }).href
  await open(t, url)
  await query(url, `CREATE ROLE ${role} LOGIN; GRANT SELECT, INSERT, UPDATE ON plants TO ${role}`)
  t.teardown(() => query(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`))
  t.equal(await (await open(t, guest)).create({ id: 1n, name: 'a' }), 'created')
})
