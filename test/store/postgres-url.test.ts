import t from 'tap'
import { readPostgresUrl } from '../../src/store/postgres/postgres-url.ts'

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
  t.match(servers[1], {
    application_name: /^a$/,
    connectionTimeoutMillis: 1_000,
    statement_timeout: 0,
  })
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
  for (const [parameters, message] of cases) {
    t.throws(() => readPostgresUrl(`postgres://localhost/plants?${parameters}`), { message })
  }
})
