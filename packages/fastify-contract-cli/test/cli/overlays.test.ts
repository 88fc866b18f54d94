import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { run } from 'fastify-contract-test-support/child-process'
import t, { type Test } from 'tap'
import { run as changes } from '../../src/cli/changes.ts'
import { run as docs } from '../../src/cli/docs.ts'
import { run as generate } from '../../src/cli/generate.ts'
import { run as runInit } from '../../src/cli/init.ts'
import { run as lint } from '../../src/cli/lint.ts'
import { projectDocuments } from '../../src/cli/project-documents.ts'
import { runWith } from '../../src/cli/test.ts'
import { pathsWith } from '../support/document-with-schema.ts'
import { enterDirectory } from '../support/enter-directory.ts'
import { ownPath } from '../support/own-path.ts'
import { startPages } from '../support/url-server.ts'

const overlayOf = (action: string): string =>
  `overlay: 1.1.0\ninfo: { title: Overlay, version: 1.0.0 }\nactions:\n  - ${action}\n`

const added = (maximum: number) => overlayOf(`{ target: $..schema, update: { maximum: ${maximum} } }`)

const manifest = JSON.stringify({ 'fastify-contract': { document: 'openapi.yaml', overlays: ['fixes/a.yaml'] } })

/** Changes to a project whose package.json names an overlay. */
const enterProject = (t: Test) =>
  enterDirectory(t, {
    'package.json': manifest,
    'openapi.yaml': pathsWith('{ type: integer }'),
    'other.yaml': pathsWith('{ type: integer }'),
    fixes: { 'a.yaml': added(7) },
    node_modules: {},
  })

/** Returns the overlays of a document that the command line names, with the value of --overlays. */
const overlaysOf = (given: string, overlays?: string) => projectDocuments({ given, overlays })[0].overlays()

/** Returns the lines that a command prints. */
async function printed(t: Test, run: () => Promise<void>): Promise<string[]> {
  const lines: string[] = []
  const logs = (['log', 'warn'] as const).map((name) =>
    t.capture(console, name, (...words: unknown[]) => void lines.push(words.join(' '))),
  )
  await run()
  for (const log of logs) log.restore()
  return lines
}

t.test('generate applies the overlays of package.json, and --check sees that one has changed', async (t) => {
  enterProject(t)
  await printed(t, () => generate([]))
  t.match(readFileSync('generated/openapi.json', 'utf8'), '"maximum": 7')
  t.same(await printed(t, () => generate(['--check'])), [])
  t.same(await printed(t, () => generate([])), ['up to date'])
  writeFileSync('fixes/a.yaml', added(8))
  await t.rejects(
    printed(t, () => generate(['--check'])),
    { message: /openapi\.json/ },
  )
  await printed(t, () => generate([]))
  t.match(readFileSync('generated/openapi.json', 'utf8'), '"maximum": 8')
  writeFileSync('package.json', manifest.replace('"fixes/a.yaml"', ''))
  await t.rejects(
    printed(t, () => generate(['--check'])),
    { message: /openapi\.json/ },
  )
})

t.test('a document besides that of package.json has the overlays of --overlays only', async (t) => {
  enterProject(t)
  t.same(overlaysOf('openapi.yaml'), ['fixes/a.yaml'])
  t.same(overlaysOf('./openapi.yaml'), ['fixes/a.yaml'])
  t.same(overlaysOf('openapi.yaml', ''), [])
  t.same(overlaysOf('other.yaml'), [])
  t.same(overlaysOf('other.yaml', 'a.yaml, b.yaml'), ['a.yaml', 'b.yaml'])
  await printed(t, () => generate(['other.yaml', '--out', 'other']))
  t.notMatch(readFileSync('other/openapi.json', 'utf8'), 'maximum')
})

t.test('the setting overlays is a list of texts', async (t) => {
  enterDirectory(t, { 'package.json': JSON.stringify({ 'fastify-contract': { overlays: 'a.yaml' } }) })
  t.throws(() => overlaysOf('openapi.yaml'), {
    message: 'package.json, fastify-contract.overlays: "a.yaml" is no list of texts; write a list of texts',
  })
})

t.test('lint names the file and the line of the overlay', async (t) => {
  enterProject(t)
  writeFileSync('fixes/a.yaml', overlayOf('{ target: $.paths.*.post, update: { summary: 7 } }'))
  const lines = await printed(t, () => lint([]))
  t.ok(
    lines.some((line) => line.startsWith('fixes/a.yaml:4:50 warning struct')),
    lines.join('\n'),
  )
})

t.test('changes applies the overlays to both documents, unless --since-overlays says otherwise', async (t) => {
  enterProject(t)
  const since = (...words: string[]) => printed(t, () => changes(['--since', 'other.yaml', ...words]))
  t.same(await since(), ['no changes since other.yaml'])
  writeFileSync('old.yaml', added(9))
  const [line] = await since('--since-overlays', 'old.yaml')
  t.match(line, /^fixes\/a\.yaml:4:45 breaking: modified #\/.*\/maximum/)
  const [other] = await since('--since-overlays', '')
  t.match(other, /^fixes\/a\.yaml:4:45 breaking: modified #\/.*\/maximum/)
})

t.test('docs compares the generated files with the document and its overlays', async (t) => {
  enterProject(t)
  await printed(t, () => generate([]))
  writeFileSync('fixes/a.yaml', added(8))
  await t.rejects(
    printed(t, () => docs([])),
    { message: /openapi\.json/ },
  )
})

t.test('init applies overlays, and writes them into package.json', async (t) => {
  enterProject(t)
  writeFileSync('a.overlay.yaml', added(9))
  const init = (...words: string[]) => printed(t, () => runInit(['--without', 'docs', 'openapi.yaml', ...words]))
  await init('new', '--overlays', 'a.overlay.yaml, fixes/a.yaml')
  t.match(readFileSync('new/generated/openapi.json', 'utf8'), '"maximum": 7')
  t.equal(readFileSync('new/overlays/a.overlay.yaml', 'utf8'), added(9))
  t.same(JSON.parse(readFileSync('new/package.json', 'utf8'))['fastify-contract'], {
    document: 'openapi.yaml',
    overlays: ['overlays/a.overlay.yaml', 'overlays/a.yaml'],
  })
  process.chdir('new')
  t.same(await printed(t, () => generate(['--check'])), [])
  process.chdir('..')
  await t.rejects(init('other', '--overlays', 'fixes/a.yaml,new/overlays/a.yaml'), {
    message: 'init: two overlays would be overlays/a.yaml; rename one of them',
  })
})

t.test('test reads the document with its overlays', async (t) => {
  enterProject(t)
  const given: unknown[] = []
  await t.rejects(
    runWith(
      async (_server, { document, overlays }) => {
        given.push(document, overlays)
        throw new Error('stop')
      },
      ['--url', 'http://127.0.0.1:1'],
    ),
  )
  t.same(given, ['openapi.yaml', ['fixes/a.yaml']])
})

t.test('mock applies the overlays of package.json, or those of --overlays', async (t) => {
  const directory = enterProject(t)
  const reply = async (...args: string[]) => {
    const { find, stop } = run(t, resolve(ownPath('src/cli.ts')), {}, ['mock', 'openapi.yaml', ...args], directory)
    const [, url = ''] = await find('stdout', /^mock of A 1\.0\.0 on (\S+); it accepts any token\n/)
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${url}/a`, { method: 'POST', headers, body: '8' })
    await stop()
    return [response.status, await response.text()]
  }
  t.match(await reply(), [400, /body must be <= 7/])
  t.same(await reply('--overlays', ''), [204, ''])
})

t.test('generate --update applies the overlays to the document that it fetches', async (t) => {
  const { at, pages } = await startPages(t, { '/api.yaml': pathsWith('{ type: integer }') })
  enterDirectory(t, { 'pets.overlay.yaml': added(7) })
  const lines = (run: () => Promise<void>) => printed(t, run)
  await lines(() => runInit([`${at}/api.yaml`, '--without', 'docs', '--overlays', 'pets.overlay.yaml']))
  t.same(await lines(() => generate(['--update'])), ['no changes since generated/openapi.json', 'up to date'])
  pages['/api.yaml'] = pathsWith('{ type: integer, minimum: 1 }')
  const [changed, ...others] = await lines(() => generate(['--update']))
  t.match(
    changed,
    /^http:\S+\/api\.yaml:\d+:\d+ breaking: modified \S+\/minimum: [\s\S]*: 1 breaking, 0 compatible, 0 text$/,
  )
  t.match(others.at(-1), /^wrote openapi\/api\.yaml, generated\/contract\.mjs/)
  t.match(readFileSync('openapi/api.yaml', 'utf8'), /^(?!.*maximum)/s, 'the document is the fetched one')
  t.match(
    readFileSync('generated/openapi.json', 'utf8'),
    /"minimum": 1[\s\S]*"maximum": 7|"maximum": 7[\s\S]*"minimum": 1/,
  )
  pages['/api.yaml'] = pathsWith('{ type: integer, minimum: 1 }').replaceAll('schema:', 'x-schema:')
  const [warning] = await lines(() => generate(['--update']))
  t.match(warning, /^openapi\/api\.yaml: .* selects nothing; .* \(pets\.overlay\.yaml:4:15\)$/)
})

t.test('init --into applies overlays, and prints them for package.json', async (t) => {
  enterDirectory(t, {
    'openapi.yaml': pathsWith('{ type: integer }'),
    'a.overlay.yaml': added(7),
    app: { 'package.json': JSON.stringify({ type: 'module', dependencies: { fastify: '^5.12.8' } }) },
  })
  const lines = await printed(t, () => runInit(['openapi.yaml', '--into', 'app', '--overlays', 'a.overlay.yaml']))
  t.match(readFileSync('app/generated/openapi.json', 'utf8'), '"maximum": 7')
  t.equal(readFileSync('app/overlays/a.overlay.yaml', 'utf8'), added(7))
  t.match(lines.join('\n'), '"fastify-contract": {"document":"openapi.yaml","overlays":["overlays/a.overlay.yaml"]}')
})
