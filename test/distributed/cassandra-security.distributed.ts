import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import cassandra from 'cassandra-driver'
import { until } from 'fastify-contract-test-support/poll'
import t from 'tap'
import { findSettings } from '../../src/store/cassandra/cassandra-store.ts'
import { migrateStore, openStore } from '../../src/store/open.ts'
import { cassandraClasspath, datacenter, nodeAddress, startCassandra } from './cassandra-cluster.ts'

const programs = cassandraClasspath()
const skip = typeof programs === 'string' && `NOT RUN: ${programs}`

t.test('a node of Cassandra with TLS and passwords', { skip, timeout: 1_800_000 }, async (t) => {
  const { classpath } = programs as Exclude<typeof programs, string>
  const directory = t.testdir({})
  const [store, certificate] = [join(directory, 'keystore'), join(directory, 'certificate.pem')]
  const keytool = (...args: string[]) =>
    execFileSync('keytool', [...args, '-alias', 'node', '-keystore', store, '-storepass', 'plants'], {
      stdio: 'ignore',
    })
  const subject = ['-dname', 'CN=node', '-ext', `san=ip:${nodeAddress(1)}`]
  keytool('-genkeypair', '-keyalg', 'RSA', '-validity', '2', ...subject)
  keytool('-exportcert', '-rfc', '-file', certificate)
  const settings = {
    authenticator: 'PasswordAuthenticator',
    authorizer: 'CassandraAuthorizer',
    client_encryption_options: `{enabled: true, optional: false, keystore: ${store}, keystore_password: plants}`,
  }
  const cluster = await startCassandra(classpath, { count: 1, settings })
  t.teardown(() => cluster.close())
  const urlOf = (user: string, parameters: string) =>
    cluster
      .url('plants', `accept_data_loss=true&query_timeout=60000&connect_timeout=30&${parameters}`)
      .replace('://', `://${user}@`)
  const tls = `sslmode=verify-full&sslrootcert=${certificate}`
  const owner = urlOf('cassandra:cassandra', tls)
  // The first role is created some seconds after the start.
  const isMigrated = () =>
    migrateStore(owner, 1).then(
      () => true,
      () => false,
    )
  await until(isMigrated, 'the first role', 300_000)

  const client = new cassandra.Client({
    contactPoints: [nodeAddress(1)],
    localDataCenter: datacenter,
    credentials: { username: 'cassandra', password: 'cassandra' },
    sslOptions: { rejectUnauthorized: false },
  })
  t.teardown(() => client.shutdown())
  for (const statement of [
    "CREATE ROLE service WITH PASSWORD = 'p@ss' AND LOGIN = true",
    'GRANT SELECT ON plants.plants TO service',
    'GRANT MODIFY ON plants.plants TO service',
    'GRANT SELECT ON system_views.settings TO service',
  ])
    await client.execute(statement)

  t.test('a role with the documented rights creates plants', async (t) => {
    const store = await openStore(urlOf('service:p%40ss', tls))
    t.equal(await store.create({ id: 1n, name: 'a' }), 'created')
    await store.ready()
    await store.close()
    const own = new cassandra.Client({
      contactPoints: [nodeAddress(1)],
      localDataCenter: datacenter,
      credentials: { username: 'service', password: 'p@ss' },
      sslOptions: { rejectUnauthorized: false },
    })
    const values = (await own.execute(findSettings)).rows.map(({ value }) => value)
    t.same(new Set(values), new Set(['batch', 'v2']))
    await own.shutdown()
  })

  t.test('a certificate that is not trusted, no TLS and a wrong password are rejected', async (t) => {
    await t.rejects(openStore(urlOf('service:p%40ss', 'sslmode=verify-full')), /self-signed certificate/)
    await t.resolves(openStore(urlOf('service:p%40ss', 'sslmode=require')).then((store) => store.close()))
    await t.rejects(openStore(urlOf('service:p%40ss', 'sslmode=disable')))
    const wrong = openStore(urlOf('service:wrong-secret', tls))
    await t.rejects(wrong, /username service and\/or password are incorrect/)
    await wrong.catch((error) => t.notMatch(String(error.stack), /wrong-secret/))
  })
})
