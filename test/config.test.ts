import t from 'tap'
import { newToken } from '../src/auth/tokens.ts'
import { readConfig } from '../src/config.ts'

t.test('without any variable: loopback, an embedded store, a token of this process', async (t) => {
  const { generatedToken, tokens, ...config } = readConfig({})
  t.same(config, {
    host: '127.0.0.1',
    port: 3000,
    storeUrl: 'sqlite:data/plants.db',
    bodyLimit: 262_144,
    logLevel: 'warn',
  })
  t.match(generatedToken, /^[\w-]{43}$/)
  t.same(tokens, [generatedToken])
  t.not(readConfig({}).generatedToken, generatedToken)
})

t.test('every variable', async (t) => {
  const ACCESS_TOKENS = [newToken(), newToken()].join(', ')
  const environment = {
    HOST: '::',
    PORT: '0',
    STORE_URL: 'memory:',
    BODY_LIMIT: '1024',
    LOG_LEVEL: 'debug',
    ACCESS_TOKENS,
  }
  t.same(readConfig(environment), {
    host: '::',
    port: 0,
    tokens: ACCESS_TOKENS.split(', '),
    generatedToken: undefined,
    storeUrl: 'memory:',
    bodyLimit: 1024,
    logLevel: 'debug',
  })
  t.equal(readConfig({ PORT: '', HOST: 'localhost' }).port, 3000, 'an empty variable is not set')
})

t.test('a wrong variable is named, with what was given and what is allowed', async (t) => {
  const cases: [string, string, RegExp][] = [
    ['HOST', 'example', /^HOST is "example", allowed: an IP address or localhost$/],
    ['PORT', '65536', /^PORT is "65536", allowed: an integer from 0 to 65535$/],
    ['PORT', 'http', /^PORT is "http", allowed/],
    ['PORT', '80.5', /^PORT is "80.5", allowed/],
    ['STORE_URL', 'plants.db', /^STORE_URL is "plants.db", allowed: memory:, sqlite:PATH, postgres:.* or module:.*$/],
    ['STORE_URL', 'postgres://me:p@ss@db/plants', /^STORE_URL is "postgres:\/\/me:\*\*\*@db\/plants", allowed/],
    ['BODY_LIMIT', '1MB', /^BODY_LIMIT is "1MB", allowed: a number of bytes from 1 to 1073741824$/],
    ['BODY_LIMIT', '0', /^BODY_LIMIT is "0", allowed/],
    ['LOG_LEVEL', 'loud', /^LOG_LEVEL is "loud", allowed: fatal, error, warn, info, debug, silent$/],
  ]
  for (const [name, value, message] of cases)
    t.throws(() => readConfig({ [name]: value }), { message }, `${name}=${value}`)
})

t.test('a token that is too weak is refused without being shown', async (t) => {
  const weak = 'hunter2'
  for (const ACCESS_TOKENS of [weak, `${newToken()},${weak}`, `${newToken()},`]) {
    try {
      readConfig({ ACCESS_TOKENS })
      t.fail('it was accepted')
    } catch (error) {
      const { message } = error as Error
      t.match(message, /^ACCESS_TOKENS: token \d of \d has .*, allowed: at least 128 bits; make one with node -p /)
      t.notMatch(message, weak)
    }
  }
})

t.test('an address that others can reach needs tokens', async (t) => {
  for (const HOST of ['0.0.0.0', '::', '192.0.2.1']) {
    t.throws(() => readConfig({ HOST }), /^ACCESS_TOKENS is not set, .* make one with node -p /)
  }
  for (const HOST of ['127.0.0.2', '::1', 'localhost']) t.ok(readConfig({ HOST }).generatedToken)
})
