import dns from 'node:dns'
import { isIP } from 'node:net'
import t, { type Test } from 'tap'
import { query } from '../../scripts/postgres/temporary-postgres.ts'
import { testDatabase } from '../../scripts/postgres/test-database.ts'
import { conformance } from '../../src/store/conformance.ts'
import { openStore } from '../../src/store/open.ts'
import { unfitReason } from '../../src/store/postgres/postgres-primary.ts'
import { ensureTable, openPostgres } from '../../src/store/postgres/postgres-store.ts'
import { readPostgresUrl } from '../../src/store/postgres/postgres-url.ts'
import { createGuest, open, startServer, unavailable } from './postgres-stores.ts'

// Most of the time of these tests is waiting for servers.
t.jobs = 4

t.test('a user with asynchronous commits is rejected', async (t) => {
  const url = await testDatabase(t)
  const { guest, guestUrl } = await createGuest(t, url)
  await query(url, `GRANT CREATE ON SCHEMA public TO ${guest}; ALTER ROLE ${guest} SET synchronous_commit = 'off'`)
  await t.rejects(openStore(guestUrl), { message: /: its synchronous_commit is off, / })
  await query(url, `ALTER ROLE ${guest} SET synchronous_commit = 'local'`)
  await (await openStore(guestUrl)).close()
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
  const url = await testDatabase(t)
  const latin = `latin_${new URL(url).pathname.slice(1)}`
  await query(url, `CREATE DATABASE ${latin} ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'`)
  t.teardown(() => query(url, `DROP DATABASE ${latin} WITH (FORCE)`))
  const latinUrl = Object.assign(new URL(url), { pathname: latin }).href
  await t.rejects(openStore(latinUrl), /its encoding is LATIN1; expected UTF8/)
})

t.test('missing privileges are reported when the store opens', async (t) => {
  const url = await testDatabase(t)
  const { guest, guestUrl } = await createGuest(t, url)
  await t.rejects(openStore(guestUrl), /permission denied for schema public/)
  await (await openStore(url)).close()
  await t.rejects(openStore(guestUrl), /permission denied for table plants/)
  await query(url, `GRANT SELECT, INSERT, UPDATE ON plants TO ${guest}`)
  const store = await openStore(guestUrl)
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  await store.close()
  t.same(await query(url, 'SELECT name FROM plants'), [{ name: 'a' }])
})

t.test('an unreachable server and a wrong password are reported', { buffered: false }, async (t) => {
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

/** Opens the database; closes it when the test ends. */
async function openUrl(t: Test, url: string) {
  const store = await openPostgres(url)
  t.teardown(() => store.close())
  return store
}

t.test('a user without CREATE rights uses a table that its owner made', async (t) => {
  const url = await testDatabase(t)
  await openUrl(t, url)
  const { guest, guestUrl } = await createGuest(t, url)
  await query(url, `GRANT SELECT, INSERT, UPDATE ON plants TO ${guest}`)
  t.equal(await (await openUrl(t, guestUrl)).create({ id: 1n, name: 'a' }), 'created')
})

const table = `
  CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text) PARTITION BY HASH (id);
  CREATE TABLE plants_0 PARTITION OF plants FOR VALUES WITH (MODULUS 2, REMAINDER 0);
  CREATE TABLE plants_1 PARTITION OF plants FOR VALUES WITH (MODULUS 2, REMAINDER 1)`

for (const [name, run] of Object.entries(conformance))
  t.test(`on a hash-partitioned table: ${name}`, async (t) => {
    const url = await testDatabase(t)
    await query(url, table)
    await t.resolves(run(() => openStore(url), true))
  })

t.test('the plants of a batch reach all partitions', async (t) => {
  const url = await testDatabase(t)
  await query(url, table)
  const store = await openStore(url)
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, id) => store.create({ id: BigInt(id), name: 'a' })),
  )
  await store.close()
  t.same(new Set(outcomes), new Set(['created']))
  const counts = await query(url, 'SELECT count(*)::int AS count FROM plants GROUP BY tableoid')
  t.equal(counts.length, 2)
  for (const { count } of counts) t.ok(Number(count) > 50, `${count} of 200`)
})

t.test('the store is not ready without the right to insert or after its table was replaced', async (t) => {
  const url = await testDatabase(t)
  await (await open(t, url)).close()
  const { guest, guestUrl } = await createGuest(t, url)
  await query(url, `GRANT SELECT, INSERT, UPDATE ON plants TO ${guest}`)
  const store = await open(t, guestUrl)
  await store.ready()
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
  const faults: [string, string, RegExp][] = [
    [
      `REVOKE INSERT ON plants FROM ${guest}`,
      `GRANT INSERT ON plants TO ${guest}`,
      /permission denied for table plants/,
    ],
    [
      `REVOKE UPDATE ON plants FROM ${guest}`,
      `GRANT UPDATE ON plants TO ${guest}`,
      /permission denied for table plants/,
    ],
    ['ALTER TABLE plants RENAME name TO label', 'ALTER TABLE plants RENAME label TO name', /column "name"/],
    ['ALTER TABLE plants RENAME TO flowers', 'ALTER TABLE flowers RENAME TO plants', /relation "plants"/],
    [
      'ALTER TABLE plants ENABLE ROW LEVEL SECURITY',
      'ALTER TABLE plants DISABLE ROW LEVEL SECURITY',
      /row-level security/,
    ],
  ]
  for (const [fault, repair, reason] of faults) {
    await query(url, fault)
    await t.rejects(store.create({ id: 1n, name: 'a' }), { ...unavailable, message: reason }, fault)
    await t.rejects(store.ready(), { message: reason }, fault)
    await query(url, repair)
    await t.resolves(store.ready(), repair)
  }
  t.same(await query(url, 'SELECT id FROM plants'), [{ id: '1' }], 'probes leave no row')
})

t.test("a constraint that rejects the probe's plant does not make the store unready", async (t) => {
  const url = await testDatabase(t)
  const store = await open(t, url)
  await query(url, "ALTER TABLE plants ADD CHECK (name <> 'probe')")
  await store.ready()
  t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
})

t.test('a URL of one server has default timeouts', async (t) => {
  t.same(readPostgresUrl('postgres://me:p%40ss@db.example:5433/plants'), {
    servers: [
      {
        connectionString: 'postgres://me:p%40ss@db.example:5433/plants?uselibpqcompat=true&sslmode=disable',
        application_name: 'plant-store',
        connectionTimeoutMillis: 3_000,
        statement_timeout: 5_000,
        keepAlive: true,
        idleTimeoutMillis: 60_000,
        max: 10,
      },
    ],
    connectTimeout: 3_000,
    queryTimeout: 7_000,
    acceptLoss: false,
  })
})

t.test('a URL of several servers applies its parameters to each', async (t) => {
  const parameters =
    'sslmode=verify-full&sslrootcert=%2Fa+b.pem&connect_timeout=1&statement_timeout=0&query_timeout=100' +
    '&application_name=a&target_session_attrs=primary&accept_data_loss=true'
  const { servers, queryTimeout, acceptLoss } = readPostgresUrl(`postgresql://me@one,[::1]:5433/plants?${parameters}`)
  t.equal(acceptLoss, true)
  t.equal(queryTimeout, 100)
  t.same(
    servers.map(({ connectionString }) => connectionString),
    ['one', '[::1]:5433'].map(
      (host) => `postgres://me@${host}/plants?uselibpqcompat=true&sslmode=verify-full&sslrootcert=%2Fa%2Bb.pem`,
    ),
  )
  t.match(servers[1], { application_name: /^a$/, connectionTimeoutMillis: 1_000, statement_timeout: 0 })
})

t.test('an unknown or invalid parameter is rejected with what is expected', async (t) => {
  const cases: [string, RegExp][] = [
    ['sslmod=require', /^unknown parameter sslmod; expected one of sslmode, sslrootcert, /],
    ['toString=1', /^unknown parameter toString; /],
    ['sslmode=prefer', /^sslmode is "prefer"; expected disable, require, verify-ca or verify-full$/],
    ['connect_timeout=0', /^connect_timeout is "0"; expected a number of seconds, at least 1$/],
    ['statement_timeout=5s', /^statement_timeout is "5s"; expected a number of milliseconds, 0 for no limit$/],
    ['sslrootcert=ca.pem', /^sslrootcert requires sslmode; expected disable, require, /],
    ['sslrootcert=', /^sslrootcert is ""; expected the path of a file$/],
    ['accept_data_loss=yes', /^accept_data_loss is "yes"; expected true or false$/],
  ]
  for (const [parameters, message] of cases)
    t.throws(() => readPostgresUrl(`postgres://localhost/plants?${parameters}`), { message })
})
