import { maskPassword } from 'fastify-contract/config'
import t from 'tap'
import { isStoreUrl, openStore } from '../../src/store/open.ts'

t.test('valid store URLs are accepted, invalid ones rejected', async (t) => {
  const valid = [
    'memory:',
    'sqlite:plants.db',
    'sqlite:/var/lib/plants.db',
    'postgres://localhost/plants',
    'postgresql://me:secret@one:5433,two:5433,[::1]/plants?sslmode=verify-full',
    'postgres://me@%2Frun%2Fpostgresql/plants',
    'module:./my-store.js',
    'module:../my-store.js?a=b',
    'module:/my-store.js',
  ]
  for (const url of valid) t.ok(isStoreUrl(url), url)
  const invalid = [
    '',
    'memory',
    'memory:x',
    'sqlite:',
    'sqlite::memory:',
    'sqlite:file:plants.db',
    'sqlite:plants.db?mode=ro',
    'mysql://x',
    'plants.db',
    'toString:',
    'postgres://',
    'postgres://localhost',
    'postgres://localhost/',
    'postgres:///plants',
    'postgres://me:p@ss@localhost/plants',
    'postgres://me@one,/plants',
    'postgres://,two/plants',
    'postgres://one,,two/plants',
    'postgres://one:x/plants',
    'module:my-store',
    'module:',
  ]
  for (const url of invalid) t.notOk(isStoreUrl(url), url)
})

t.test('an unsupported URL is rejected with the supported ones', async (t) => {
  for (const url of ['mysql://x', 'plants.db', 'toString:'])
    await t.rejects(
      openStore(url),
      /^unsupported STORE_URL; expected memory:, sqlite:PATH [^,]+, no file: URI\), postgres:/,
    )
})

t.test('a URL is displayed without its password', async (t) => {
  const cases: [string, string][] = [
    ['memory:', 'memory:'],
    ['postgres://localhost:5432/plants', 'postgres://localhost:5432/plants'],
    ['postgres://me@localhost/plants', 'postgres://me@localhost/plants'],
    ['postgres://me:secret@localhost:5432,two/plants', 'postgres://me:***@localhost:5432,two/plants'],
    ['postgres://me:p@/s?s#@localhost/plants', 'postgres://me:***@localhost/plants'],
    ['postgres://localhost/plants?a=b&sslpassword=c&d=e', 'postgres://localhost/plants?a=b&sslpassword=***&d=e'],
  ]
  for (const [url, shown] of cases) t.equal(maskPassword(url), shown)
})
