import dns from 'node:dns'
import { isIP } from 'node:net'
import t, { type Test } from 'tap'
import { openStore } from '../../src/store/open.ts'
import { makeTable } from '../../src/store/postgres-start.ts'
import { type PostgresOptions, query, startPostgres } from '../support/postgres.ts'

async function start(t: Test, options: PostgresOptions) {
  const server = await startPostgres(options)
  t.teardown(() => server.close())
  return server
}

t.test('a server that can lose what it acknowledged is refused, unless that is accepted', async (t) => {
  const server = await start(t, { settings: { fsync: 'off' } })
  const refusal = /^its fsync is off, so it can lose what it acknowledged; allowed with accept_data_loss=true$/
  await t.rejects(openStore(server.url()), { message: refusal })
  const store = await openStore(`${server.url()}?accept_data_loss=true`)
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  await store.close()
})

t.test('so is a user for whom commits do not wait', async (t) => {
  const server = await start(t, {})
  await server.query("ALTER ROLE postgres SET synchronous_commit = 'off'")
  await t.rejects(openStore(server.url()), { message: /^its synchronous_commit is off, / })
  await server.query("ALTER ROLE postgres SET synchronous_commit = 'local'")
  await (await openStore(server.url())).close()
})

t.test('a database that cannot hold every text is refused', async (t) => {
  const server = await start(t, {})
  await server.query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
  await t.rejects(openStore(server.url('latin')), /its encoding is LATIN1, allowed: UTF8/)
})

t.test('rights are looked at before the first create', async (t) => {
  const server = await start(t, {})
  await server.query('CREATE ROLE guest LOGIN')
  const url = server.url().replace('//postgres@', '//guest@')
  await t.rejects(openStore(url), /permission denied for schema public/)
  await (await openStore(server.url())).close()
  await t.rejects(openStore(url), /permission denied for table plants/)
  await server.query('GRANT SELECT, INSERT, UPDATE ON plants TO guest')
  const store = await openStore(url)
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  await store.close()
  t.same(await query(server.url(), 'SELECT name FROM plants'), [{ name: 'a' }])
})

t.test('a server that cannot be reached, and a wrong password, are told', async (t) => {
  const server = await start(t, { password: 'right' })
  t.intercept(dns, 'lookup', {
    value: (_host: string, _options: object, give: (error: null, addresses: dns.LookupAddress[]) => void) =>
      give(
        null,
        ['127.0.0.1', '::1'].map((address) => ({ address, family: isIP(address) })),
      ),
  })
  await t.rejects(openStore('postgres://postgres@two.example:1/plants'), /no server takes writes: ECONNREFUSED/)
  await t.rejects(openStore('postgres://postgres@127.0.0.1:1/plants'), /no server takes writes: connect ECONNREFUSED/)
  const wrong = server.url().replace(':right@', ':wrong@')
  await t.rejects(openStore(wrong), /no server takes writes: password authentication failed for user "postgres"/)
})

t.test('a table that is made and still missing is told', async (t) => {
  const missing = Object.assign(new Error('no table'), { code: '42P01' })
  const use = () => Promise.reject(missing)
  await t.rejects(
    makeTable(use, () => Promise.resolve()),
    missing,
  )
})
