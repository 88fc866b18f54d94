import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { maskPassword } from 'fastify-contract/config'
import { nodeCommand, run } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { conformance } from '../../src/store/conformance.ts'
import { isStoreUrl, openStore } from '../../src/store/open.ts'
import { copyProject } from '../support/project-copy.ts'
import { startService } from '../support/service-process.ts'

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

for (const [name, run] of Object.entries(conformance))
  t.test(`in memory: ${name}`, (t) => t.resolves(run(() => openStore('memory:'), false)))

const anyStore = import.meta.resolve('../support/any-store.js')

t.test('the documented store passes the conformance suite and runs in the service', async (t) => {
  const directory = copyProject(t)
  const blocks = readFileSync('docs/stores.md', 'utf8').matchAll(/^```js\n\/\/ (my-store\S*\.js)[^\n]*\n(.*?)^```$/gms)
  const files = Array.from(blocks, ([, name = '', code = '']) => {
    writeFileSync(join(directory, name), code)
    return name
  })
  t.same(files, ['my-store.js', 'my-store.test.js'])
  const built = await run(t, 'scripts/build.ts', {}, [], directory).ended
  t.match(built, { code: 0 })

  const { code, stdout } = await run(t, 'my-store.test.js', {}, [], directory).ended
  t.equal(code, 0)
  t.match(stdout, /^(#|ℹ) pass 7$/m)

  const STORE_URL = 'module:./my-store.js?sqlite:data/plants.db'
  const command = nodeCommand('dist/server.js')
  const server = await startService(t, { STORE_URL }, { command, cwd: directory })
  const create = () => server.create('{"id":1,"name":"a"}')
  t.equal((await create()).status, 200)
  writeFileSync(join(directory, 'maintenance'), '')
  const refused = await create()
  t.equal(refused.status, 503)
  t.equal(refused.headers['retry-after'], '60')
  t.match(await server.stop(), { code: 0 })
})

t.test('a store may be an instance of a class', async (t) => {
  const directory = t.testdir({
    'class.mjs': `
      import { anyStore } from '${anyStore}'
      class Others {}
      Object.setPrototypeOf(Others.prototype, anyStore({}))
      class Store extends Others {
        #outcome = 'created'
        async create() { return this.#outcome }
        async ready() { if (this.#outcome !== 'created') throw new Error('not ready') }
        async close() { this.#outcome = 'closed' }
        get failure() { return Promise.resolve(new Error('failed')) }
      }
      export const open = () => new Store()`,
  })
  const { create, ready, close, failure } = await openStore(`module:./${relative('.', directory)}/class.mjs`)
  t.equal(await create({ id: 1n, name: 'a' }), 'created')
  await ready()
  await close()
  await t.rejects(ready(), { message: /^not ready$/ })
  t.match(await failure, { message: /^failed$/ })
})

t.test('functions of a store that throw or return a plain value behave like promises', async (t) => {
  const directory = t.testdir({
    'plain.mjs': `import { anyStore } from '${anyStore}'
    export const open = () => anyStore({
      create({ id }) { if (id === 1n) throw new Error('too early'); return 'created' },
      ready() {},
      close() {},
    })`,
  })
  const { create, ready, close } = await openStore(`module:./${relative('.', directory)}/plain.mjs`)
  const thrown = create({ id: 1n, name: 'a' })
  await t.rejects(thrown, { message: /^too early$/ })
  const created = create({ id: 2n, name: 'a' })
  t.type(created.then, 'function')
  t.equal(await created, 'created')
  await t.resolves(ready())
  await t.resolves(close())
})

t.test('a module without a valid store is rejected with the reason', async (t) => {
  const directory = t.testdir({
    'nothing.mjs': '',
    'half.mjs': `import { anyStore } from '${anyStore}'
    export const open = () => anyStore({ close: 'at once' })`,
    'none.mjs': 'export const open = async () => undefined',
    'failing.mjs': "export const open = async (url) => { throw new Error('not today: ' + url) }",
  })
  const open = (name: string) => openStore(`module:./${relative('.', directory)}/${name}`)
  await t.rejects(open('missing.mjs'), /Cannot find module/)
  await t.rejects(open('nothing.mjs'), { message: /^the module exports no function open$/ })
  await t.rejects(open('half.mjs'), {
    message: /^open\(\) returned a value without the function close; return a store$/,
  })
  await t.rejects(open('none.mjs'), {
    message: /^open\(\) returned a value without the function create; return a store$/,
  })
  await t.rejects(open('failing.mjs?a=b'), { message: /^not today: module:.*failing\.mjs\?a=b$/ })
})
