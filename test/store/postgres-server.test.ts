import dns from 'node:dns'
import { isIP } from 'node:net'
import t from 'tap'
import { query } from '../../scripts/postgres/temporary-postgres.ts'
import { openStore } from '../../src/store/open.ts'
import { unfitReason } from '../../src/store/postgres/postgres-primary.ts'
import { ensureTable } from '../../src/store/postgres/postgres-store.ts'
import { startServer } from './postgres-stores.ts'

t.test('a server that can lose acknowledged plants is rejected unless accept_data_loss is set', async (t) => {
  const server = await startServer(t, { settings: { fsync: 'off' } })
  const refusal =
    /^no server can be used: its fsync is off, so it can lose acknowledged plants; change it, or set accept_data_loss=true$/
  await t.rejects(openStore(server.url()), { message: refusal })
  const store = await openStore(`${server.url()}?accept_data_loss=true`)
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  await store.close()
})

t.test('a user with asynchronous commits is rejected', async (t) => {
  const server = await startServer(t)
  await server.query("ALTER ROLE postgres SET synchronous_commit = 'off'")
  await t.rejects(openStore(server.url()), { message: /: its synchronous_commit is off, / })
  await server.query("ALTER ROLE postgres SET synchronous_commit = 'local'")
  await (await openStore(server.url())).close()
})

t.test('unsafe server settings are named', async (t) => {
  const fit = { transaction_read_only: 'off', server_encoding: 'UTF8', fsync: 'on', synchronous_commit: 'on' }
  const standby = { synchronous_standby_names: 'standby' }
  const cases: [object, RegExp | undefined][] = [
    [{}, undefined],
    [fit, undefined],
    [{ ...fit, ...standby, synchronous_commit: 'remote_write' }, undefined],
    [{ ...fit, synchronous_commit: 'local', synchronous_standby_names: '' }, undefined],
    [{ ...fit, ...standby, synchronous_commit: 'local' }, /^its synchronous_commit is local, so it can lose/],
    [{ ...fit, synchronous_commit: 'off' }, /^its synchronous_commit is off, so it can lose/],
    [{ ...fit, fsync: 'off' }, /^its fsync is off, so it can lose/],
    [{ ...fit, transaction_read_only: 'on' }, /^it is read-only$/],
    [{ ...fit, server_encoding: 'LATIN1' }, /^its encoding is LATIN1; expected UTF8$/],
  ]
  for (const [settings, reason] of cases) {
    if (reason === undefined) t.equal(unfitReason(settings, false), undefined)
    else t.match(unfitReason(settings, false), reason)
  }
  t.equal(unfitReason({ ...fit, fsync: 'off', synchronous_commit: 'off' }, true), undefined)
  t.match(unfitReason({ ...fit, transaction_read_only: 'on' }, true), /^it is read-only$/)
})

t.test('a database with an encoding other than UTF8 is rejected', async (t) => {
  const server = await startServer(t)
  await server.query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
  await t.rejects(openStore(server.url('latin')), /its encoding is LATIN1; expected UTF8/)
})

t.test('missing privileges are reported when the store opens', async (t) => {
  const server = await startServer(t)
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

t.test('an unreachable server and a wrong password are reported', async (t) => {
  const server = await startServer(t, { password: 'right' })
  t.intercept(dns, 'lookup', {
    value: (_host: string, _options: object, give: (error: null, addresses: dns.LookupAddress[]) => void) =>
      give(
        null,
        ['127.0.0.1', '::1'].map((address) => ({ address, family: isIP(address) })),
      ),
  })
  await t.rejects(openStore('postgres://postgres@two.example:1/plants'), /no server can be used: ECONNREFUSED/)
  await t.rejects(openStore('postgres://postgres@127.0.0.1:1/plants'), /no server can be used: connect ECONNREFUSED/)
  const wrong = server.url().replace(':right@', ':wrong@')
  await t.rejects(openStore(wrong), /no server can be used: password authentication failed for user "postgres"/)
})

t.test('a table that is missing after its creation is reported', async (t) => {
  const missing = Object.assign(new Error('no table'), { code: '42P01' })
  const use = () => Promise.reject(missing)
  await t.rejects(
    ensureTable(use, () => Promise.resolve()),
    missing,
  )
})
