import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { run as generate } from '../../src/cli/generate.ts'
import { run as init } from '../../src/cli/init.ts'
import { enterDirectory } from '../support/enter-directory.ts'
import { startPages } from '../support/url-server.ts'

const operation = (id: string, schema: string) => `
    get:
      operationId: ${id}
      responses:
        '200': { description: Done., content: { application/json: { schema: ${schema} } } }
        '400': { description: Wrong., content: { application/json: { schema: { type: object } } } }
`
const documentWith = (paths: string) => `openapi: 3.1.0\ninfo: { title: Pets, version: 1.0.0 }\npaths:\n${paths}`
const first = documentWith(`  /a:${operation('getA', "{ $ref: '../common/a.yaml' }")}`)
const second = documentWith(
  `  /a:${operation('getA', "{ $ref: '../common/b.yaml' }")}  /b:${operation('getB', '{ type: string }')}`,
)

const read = (path: string) => readFileSync(path, 'utf8')

t.test('generate --update fetches the document again, lists its changes, and writes it', async (t) => {
  const { at, pages } = await startPages(t, {
    '/v1/spec/api': first,
    '/v1/common/a.yaml': 'type: object\nproperties: { name: { type: string } }',
    '/v1/common/b.yaml': 'type: object\nproperties: { name: { type: integer } }',
  })
  enterDirectory(t, {})
  const printed = t.capture(console, 'log')
  const lines = () =>
    printed()
      .flatMap(({ args }) => args)
      .join('\n')
  await init([`${at}/v1/spec/api#part`])
  t.match(lines(), /openapi\/ \(2 files\)/)
  const { 'fastify-contract': settings } = JSON.parse(read('package.json'))
  t.same(settings, { document: 'openapi/spec/api.yaml', origin: `${at}/v1/spec/api` })
  t.equal(read('openapi/spec/api.yaml'), first)
  await generate(['--update'])
  t.equal(lines(), 'no changes since generated/openapi.json\nup to date')

  pages['/v1/spec/api'] = second
  const before = read('generated/contract.mjs')
  await t.rejects(generate(['--update', '--check']), {
    message: `these files differ from those of ${at}/v1/spec/api; run fastify-contract generate --update: openapi/spec/api.yaml, openapi/common/b.yaml`,
  })
  const changes = lines()
  t.match(changes, new RegExp(`^${at}/v1/common/b\\.yaml:2:\\d+ breaking: modified \\S+name/type`, 'm'))
  t.match(changes, new RegExp(`^${at}/v1/spec/api:\\d+:\\d+ compatible: added #/paths/`, 'm'))
  t.match(changes, /^since generated\/openapi\.json: \d breaking, \d compatible, 0 text$/m)
  t.equal(read('openapi/spec/api.yaml'), first)
  await generate(['--update'])
  t.match(
    lines(),
    /async getB\(\)[\s\S]*\nwrote openapi\/spec\/api\.yaml, openapi\/common\/b\.yaml, generated\/contract\.mjs,.*\n/,
  )
  t.equal(read('openapi/spec/api.yaml'), second)
  t.not(read('generated/contract.mjs'), before)
  t.same(readdirSync('openapi/spec'), ['api.yaml'])
  await generate(['--check'])
  await generate(['--check', '--update'])
  lines()
})

t.test('a file that the document does not refer to any more stays, and is named', async (t) => {
  const { at, pages } = await startPages(t, { '/spec/api.yaml': first, '/common/a.yaml': 'type: string' })
  enterDirectory(t, {})
  const printed = t.capture(console, 'log')
  await init([`${at}/spec/api.yaml`])
  pages['/spec/api.yaml'] = documentWith(`  /a:${operation('getA', '{ type: string }')}`)
  rmSync('generated', { recursive: true })
  printed()
  await generate(['--update'])
  const lines = printed().flatMap(({ args }) => args)
  t.match(lines, [
    'there is no generated/openapi.json to compare with',
    /^new, for src/,
    /^wrote openapi\/spec\/api\.yaml, generated/,
    'the document does not refer to openapi/common/a.yaml any more',
  ])
  t.ok(existsSync('openapi/common/a.yaml'))
})

t.test('nothing is written if a file cannot be fetched, or the document cannot be served', async (t) => {
  const { at, pages } = await startPages(t, { '/spec/api.yaml': first, '/common/a.yaml': 'type: string' })
  const directory = enterDirectory(t, {})
  const printed = t.capture(console, 'log')
  await init([`${at}/spec/api.yaml`])
  const state = () =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [name, read(`${parentPath}/${name}`)])
  const before = state()
  pages['/spec/api.yaml'] = second
  await t.rejects(generate(['--update']), { message: /api\.yaml:8:\d+: refers to \S+b\.yaml: responds with 404/ })
  pages['/spec/api.yaml'] = first.replace('type: object', 'type: text').replace('type: object', 'type: text')
  await t.rejects(generate(['--update']), { message: /^openapi\/spec\/api\.yaml cannot be served as written:\n.*type/ })
  pages['/spec/api.yaml'] = '<html>'
  await t.rejects(generate(['--update']), { message: /spec\/api\.yaml: is no object of JSON or YAML/ })
  t.same(state(), before)
  // A file of the project is none of the document.
  writeFileSync('openapi/common/b.yaml', 'mine')
  pages['/spec/api.yaml'] = second
  pages['/common/b.yaml'] = 'type: string'
  await t.rejects(generate(['--update']), {
    message: /^openapi\/common\/b\.yaml exists, and is no file of the document; /,
  })
  t.equal(read('openapi/common/b.yaml'), 'mine')
  t.equal(read('openapi/spec/api.yaml'), first)
  rmSync('openapi/common/b.yaml')
  // A document that is broken here, as by a merge, is replaced.
  writeFileSync('openapi/spec/api.yaml', '<<<<<<<')
  printed()
  await generate(['--update'])
  t.match(
    printed()
      .flatMap(({ args }) => args)
      .join('\n'),
    /compatible: added[\s\S]*wrote openapi\/spec\/api\.yaml, /,
  )
})

t.test('generate --update needs the URL of the document in package.json', async (t) => {
  enterDirectory(t, { 'package.json': '{ "fastify-contract": { "document": "api.yaml" } }' })
  await t.rejects(generate(['--update']), {
    message: /^package\.json has no fastify-contract\.origin, which is the URL/,
  })
  const settings = { document: '../api.yaml', origin: 'https://example.com/' }
  writeFileSync('package.json', JSON.stringify({ 'fastify-contract': settings }))
  await t.rejects(generate(['--update']), { message: /: \.\.\/api\.yaml is outside of this directory; move it here$/ })
  await t.rejects(generate(['api.yaml', '--update']), {
    message: /--update has the document of package\.json; name no/,
  })
})

t.test('the origins that a user allows are remembered', async (t) => {
  const other = await startPages(t, { '/a.yaml': 'type: string' })
  const { at, pages } = await startPages(t, {})
  pages['/api.yaml'] = first.replace('../common', other.at)
  enterDirectory(t, {})
  t.capture(console, 'log')
  await t.rejects(init([`${at}/api.yaml`, 'new']), {
    message: /allow it with --allow-origin http:\S+ of init or generate/,
  })
  t.same(readdirSync('.'), [])
  await init([`${at}/api.yaml`, '.', '--allow-origin', `${other.at}, https://example.com`])
  const { 'fastify-contract': settings } = JSON.parse(read('package.json'))
  t.equal(settings.allowOrigin, `${other.at}, https://example.com`)
  await generate(['--update'])
  await generate(['--check'])
})

t.test('generate --update tells integers apart that are one double', async (t) => {
  const limited = (maximum: string) =>
    documentWith(`  /a:${operation('getA', `{ type: integer, format: int64, maximum: ${maximum} }`)}`)
  const { at, pages } = await startPages(t, { '/api.yaml': limited('9223372036854775807') })
  enterDirectory(t, {})
  const printed = t.capture(console, 'log')
  await init([`${at}/api.yaml`, '--without', 'docs'])
  pages['/api.yaml'] = limited('9223372036854775806')
  printed()
  await generate(['--update'])
  t.match(printed()[0]?.args[0], /: modified \S+\/maximum$/m)
})
