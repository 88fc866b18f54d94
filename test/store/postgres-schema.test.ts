import t, { type Test } from 'tap'
import { query } from '../../scripts/postgres/temporary-postgres.ts'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { openPostgres } from '../../src/store/postgres/postgres-store.ts'
import { exactly } from '../support/exact-pattern.ts'
import { startServer } from './postgres-stores.ts'

/** Opens the database; closes it when the test ends. */
async function open(t: Test, url: string) {
  const store = await openPostgres(url)
  t.teardown(() => store.close())
  return store
}

/** Records versions in the schema history, as a newer release does. */
const record = (url: string, schema: string, rows: string) =>
  query(
    url,
    `CREATE TABLE ${schema}.plants_schema (version bigint PRIMARY KEY, oldest bigint NOT NULL);
     INSERT INTO ${schema}.plants_schema VALUES ${rows}`,
  )

t.test('a start logs no server error', async (t) => {
  const server = await startServer(t)
  await open(t, server.url())
  const begin = server.log.length
  await open(t, server.url())
  t.equal(server.log.slice(begin), '')
})

t.test('a database that a newer release expanded is used, and one that it contracted is rejected', async (t) => {
  const url = await testDatabase(t)
  await open(t, url)
  await record(url, 'public', '(2, 1)')
  t.equal(await (await open(t, url)).create({ id: 1n, name: 'a' }), 'created')
  await query(url, 'INSERT INTO plants_schema VALUES (3, 2)')
  await t.rejects(openPostgres(url), {
    message: exactly('it has schema version 2, and this release supports up to 1; upgrade the service'),
  })
})

t.test('the history of another schema is ignored', async (t) => {
  const url = await testDatabase(t)
  await query(url, 'CREATE SCHEMA other')
  await record(url, 'other', '(99, 99)')
  t.equal(await (await open(t, url)).create({ id: 1n, name: 'a' }), 'created')
})

t.test('a user without CREATE rights uses a table that its owner made, but needs to read the history', async (t) => {
  const url = await testDatabase(t)
  const role = new URL(url).pathname.slice(1)
  const guest = Object.assign(new URL(url), { username: role }).href
  await open(t, url)
  await query(url, `CREATE ROLE ${role} LOGIN; GRANT SELECT, INSERT, UPDATE ON plants TO ${role}`)
  t.teardown(() => query(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`))
  t.equal(await (await open(t, guest)).create({ id: 1n, name: 'a' }), 'created')
  await record(url, 'public', '(2, 1)')
  await query(url, `GRANT INSERT ON plants_schema TO ${role}`)
  await t.rejects(openPostgres(guest), { message: /^permission denied for table plants_schema$/ })
})
