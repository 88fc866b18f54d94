import { readFileSync } from 'node:fs'
import t from 'tap'
import { newToken } from '../../packages/fastify-contract/src/auth/tokens.ts'
import { defaultLimits } from '../../packages/fastify-contract/src/limits/limits.ts'
import { environmentVariables, readConfig as read } from '../../packages/fastify-contract/src/service/config.ts'
import { application } from '../../src/config.ts'
import { configuration } from '../deploy/documented-configuration.ts'

const readConfig = (environment: NodeJS.ProcessEnv) => read(environment, application)

t.test('the defaults are a loopback address, an embedded store and a generated token', async (t) => {
  const { generatedToken, tokens, ...config } = readConfig({})
  t.same(config, {
    host: '127.0.0.1',
    port: 3000,
    own: { STORE_URL: 'sqlite:data/plants.db' },
    scopes: [],
    tokensFile: undefined,
    jwt: undefined,
    limits: defaultLimits,
    trustProxy: [],
    origins: [],
    drain: { time: 5_000, deadline: 30_000 },
    management: { host: '127.0.0.1', port: 3001 },
    log: { level: 'info', format: 'auto', requests: true },
  })
  t.match(generatedToken, /^plants_[\w-]{49}$/)
  t.same(tokens, [generatedToken])
  t.not(readConfig({}).generatedToken, generatedToken)
})

t.test('every variable is read', async (t) => {
  const ACCESS_TOKENS = [newToken(), newToken()].join(', ')
  const environment = {
    HOST: '::',
    PORT: '0',
    STORE_URL: 'postgres://plants@database/plants',
    ACCESS_TOKENS,
    TOKENS_FILE: '/run/secrets/tokens.json',
    JWT_ISSUER: 'https://issuer.example/plants',
    JWT_AUDIENCE: 'plant-store',
    JWT_JWKS_URL: 'https://issuer.example/keys?of=plants',
    JWT_BOUND_TOKENS: 'accept',
    TRUST_PROXY: '10.0.0.0/8, 192.0.2.1,fd00::/8',
    CORS_ORIGINS: 'https://app.example, http://localhost:8080,http://[::1]:8080',
    BODY_LIMIT: '1024',
    BODY_MEMORY_LIMIT: '2',
    UPLOAD_LIMIT: '1099511627776',
    FORM_FIELDS_LIMIT: '10',
    HEADERS_LIMIT: '2048',
    HEADERS_TIMEOUT: '1',
    REQUEST_TIMEOUT: '2',
    KEEP_ALIVE_TIMEOUT: '3',
    LINGER_LIMIT: '11',
    LINGER_TIMEOUT: '12',
    HANDLER_TIMEOUT: '4',
    CONNECTIONS_LIMIT: '5',
    IN_FLIGHT_LIMIT: '6',
    EVENT_LOOP_DELAY_LIMIT: '7',
    ACCESS_TOKENS_SCOPE: 'plants:read plants:write',
    REQUESTS_PER_MINUTE: '8',
    AUTH_FAILURES_PER_MINUTE: '9',
    DRAIN_TIME: '0',
    DRAIN_DEADLINE: '10',
    MANAGEMENT_HOST: '0.0.0.0',
    MANAGEMENT_PORT: '9090',
    LOG_LEVEL: 'debug',
    LOG_FORMAT: 'json',
    ACCESS_LOG: 'off',
  }
  const all = { ...environmentVariables, ...application.variables }
  t.same(Object.keys(environment).sort(), Object.keys(all).sort(), 'the test sets every variable')
  t.same(readConfig(environment), {
    host: '::',
    port: 0,
    own: { STORE_URL: 'postgres://plants@database/plants' },
    tokens: ACCESS_TOKENS.split(', '),
    scopes: ['plants:read', 'plants:write'],
    generatedToken: undefined,
    tokensFile: '/run/secrets/tokens.json',
    jwt: {
      issuer: 'https://issuer.example/plants',
      audience: 'plant-store',
      jwksUrl: 'https://issuer.example/keys?of=plants',
      boundTokens: 'accept',
    },
    limits: {
      body: 1024,
      bodyMemory: 2,
      upload: 1_099_511_627_776,
      formFields: 10,
      headers: 2048,
      headersTime: 1,
      requestTime: 2,
      keepAliveTime: 3,
      linger: 11,
      lingerTime: 12,
      handlerTime: 4,
      connections: 5,
      inFlight: 6,
      eventLoopDelay: 7,
      requests: 8,
      authFailures: 9,
    },
    trustProxy: ['10.0.0.0/8', '192.0.2.1', 'fd00::/8'],
    origins: ['https://app.example', 'http://localhost:8080', 'http://[::1]:8080'],
    drain: { time: 0, deadline: 10 },
    management: { host: '0.0.0.0', port: 9090 },
    log: { level: 'debug', format: 'json', requests: false },
  })
  t.equal(readConfig({ PORT: '', HOST: 'localhost' }).port, 3000, 'an empty variable is not set')
})

t.test('the pages on configuration list each variable with its default, and each limit of createServer', async (t) => {
  const all = { ...environmentVariables, ...application.variables }
  for (const [name, variable] of Object.entries(all))
    t.equal(configuration.get(name), String((variable as { default: unknown }).default), name)
  t.equal(configuration.size, Object.keys(all).length)
  const page = readFileSync('packages/fastify-contract/docs/configuration.md', 'utf8')
  for (const [name, value] of Object.entries(defaultLimits)) t.match(page, ` | \`${value}\` | \`${name}\` | `)
})

t.test('an invalid variable is reported with its value and the allowed values', async (t) => {
  const cases: [string, string, RegExp][] = [
    ['HOST', 'example', /^HOST is "example"; expected an IP address or localhost$/],
    ['PORT', '65536', /^PORT is "65536"; expected an integer from 0 to 65535$/],
    ['PORT', 'http', /^PORT is "http"; expected an integer from 0 to 65535$/],
    ['PORT', '80.5', /^PORT is "80\.5"; expected an integer from 0 to 65535$/],
    ['MANAGEMENT_PORT', '3000', /^MANAGEMENT_PORT is "3000", the same as PORT; expected another port$/],
    [
      'STORE_URL',
      'plants.db',
      /^STORE_URL is "plants.db"; expected memory:, sqlite:PATH .*, postgres:.* or module:.*$/,
    ],
    ['STORE_URL', 'sqlite:file:a?mode=ro', /^STORE_URL is "sqlite:file:a\?mode=ro"; expected .*no file: URI.*$/],
    [
      'STORE_URL',
      'postgres://me:p@ss@db/plants',
      /^STORE_URL is "postgres:\/\/me:\*\*\*@db\/plants"; expected memory:, [^\n]+$/,
    ],
    ['BODY_LIMIT', '1MB', /^BODY_LIMIT is "1MB"; expected a number of bytes from 1 to 1073741824$/],
    ['BODY_LIMIT', '0', /^BODY_LIMIT is "0"; expected a number of bytes from 1 to 1073741824$/],
    ['HEADERS_TIMEOUT', '0', /^HEADERS_TIMEOUT is "0"; expected a number of milliseconds from 1 to 3600000$/],
    ['LINGER_LIMIT', '64MB', /^LINGER_LIMIT is "64MB"; expected a number of bytes from 1 to 1073741824$/],
    ['LINGER_TIMEOUT', '0', /^LINGER_TIMEOUT is "0"; expected a number of milliseconds from 1 to 3600000$/],
    ['REQUESTS_PER_MINUTE', '-1', /^REQUESTS_PER_MINUTE is "-1"; expected a number per minute from 0 to 1000000000$/],
    ['ACCESS_TOKENS_SCOPE', 'a "b"', /^ACCESS_TOKENS_SCOPE is "a \\"b\\""; expected scopes with spaces between them/],
    ['LOG_LEVEL', 'loud', /^LOG_LEVEL is "loud"; expected info, fatal, error, warn, debug, silent$/],
    ['ACCESS_LOG', 'yes', /^ACCESS_LOG is "yes"; expected on, off$/],
    [
      'TRUST_PROXY',
      '10.0.0.0/33',
      /^TRUST_PROXY is "10.0.0.0\/33"; expected IP addresses and CIDR ranges, comma separated$/,
    ],
    ['TRUST_PROXY', '10.0.0.0/8/8', /^TRUST_PROXY is "10\.0\.0\.0\/8\/8"; expected IP addresses and [^\n]+$/],
    ['TRUST_PROXY', 'proxy', /^TRUST_PROXY is "proxy"; expected IP addresses and [^\n]+$/],
    [
      'CORS_ORIGINS',
      '*',
      /^CORS_ORIGINS is "\*"; expected exact origins such as https:\/\/app.example:8443, comma separated, without a path or "\*"$/,
    ],
    ...[
      'null',
      'app.example',
      'https://app.example/',
      'https://app.example:443',
      'https://App.example',
      'https://*.app.example',
      'https://me@app.example',
      'ftp://app.example',
      'https://app.example,',
      'https://',
    ].map((value): [string, string, RegExp] => [
      'CORS_ORIGINS',
      value,
      /^CORS_ORIGINS is "[^"]*"; expected exact origins such as [^\n]+$/,
    ]),
    [
      'JWT_ISSUER',
      'http://issuer.example',
      /^JWT_ISSUER is "http:.*"; expected an https URL, or an http URL of a loopback host$/,
    ],
    [
      'JWT_ISSUER',
      'https://issuer.example',
      /^JWT_AUDIENCE is required when JWT_ISSUER is set; set it to the audience of the tokens$/,
    ],
    ['JWT_AUDIENCE', 'plants', /^JWT_AUDIENCE is "plants"; it requires JWT_ISSUER$/],
    ['JWT_BOUND_TOKENS', 'yes', /^JWT_BOUND_TOKENS is "yes"; expected reject, accept$/],
    ['JWT_BOUND_TOKENS', 'accept', /^JWT_BOUND_TOKENS is "accept"; it requires JWT_ISSUER$/],
    ['JWT_JWKS_URL', 'https://a.example', /^JWT_JWKS_URL is "https:\/\/a.example"; it requires JWT_ISSUER$/],
  ]
  for (const [name, value, message] of cases)
    t.throws(() => readConfig({ [name]: value }), { message }, `${name}=${value}`)
})

t.test('service and admin server may share a port only on different addresses', async (t) => {
  const ports = { PORT: '80', MANAGEMENT_PORT: '80', ACCESS_TOKENS: newToken() }
  for (const hosts of [{ HOST: 'localhost' }, { HOST: '0.0.0.0' }, { HOST: '192.0.2.1', MANAGEMENT_HOST: '::' }])
    t.throws(() => readConfig({ ...ports, ...hosts }), /^MANAGEMENT_PORT is "80", the same as PORT/)
  t.equal(readConfig({ ...ports, HOST: '192.0.2.1' }).management.port, 80)
  t.equal(readConfig({ PORT: '0', MANAGEMENT_PORT: '0' }).management.port, 0)
})

t.test('a weak token is rejected without being shown', async (t) => {
  const weak = 'hunter2'
  for (const ACCESS_TOKENS of [weak, `${newToken()},${weak}`, `${newToken()},`]) {
    try {
      readConfig({ ACCESS_TOKENS })
      t.fail('it was accepted')
    } catch (error) {
      const { message } = error as Error
      t.match(
        message,
        /^ACCESS_TOKENS: token \d of \d (has .*|is empty); expected at least 128 bits, as from plant-store token create --name NAME$/,
      )
      t.notMatch(message, weak)
    }
  }
})

t.test('a non-loopback address requires tokens unless every operation is open', async (t) => {
  t.match(read({ HOST: '0.0.0.0' }, {}, false), { tokens: [], generatedToken: undefined })
  t.throws(() => read({ HOST: '0.0.0.0' }, {}), /; create a token with openssl rand -base64 32$/)
  for (const HOST of ['0.0.0.0', '::', '192.0.2.1'])
    t.throws(
      () => readConfig({ HOST }),
      /^ACCESS_TOKENS is not set; on .* create a token with plant-store token create --name NAME$/,
    )
  const { npm_lifecycle_event } = process.env
  process.env.npm_lifecycle_event = 'start'
  t.throws(() => readConfig({ HOST: '::' }), /; create a token with npm run token -- create --name NAME$/)
  process.env.npm_lifecycle_event = npm_lifecycle_event ?? ''
  for (const HOST of ['127.0.0.2', '::1', 'localhost']) t.ok(readConfig({ HOST }).generatedToken)
  t.equal(readConfig({ HOST: 'localhost' }).host, '127.0.0.1', 'localhost becomes one address')
  t.same(readConfig({ HOST: '::', TOKENS_FILE: 'tokens.json' }).tokens, [])
  t.same(readConfig({ HOST: '::', JWT_ISSUER: 'https://issuer.example', JWT_AUDIENCE: 'plants' }).tokens, [])
})
