import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { run } from 'fastify-contract-test-support/child-process'
import t, { type Test } from 'tap'
import { run as changes } from '../../src/cli/changes.ts'
import { run as docs } from '../../src/cli/docs.ts'
import { run as generate } from '../../src/cli/generate.ts'
import { run as lint } from '../../src/cli/lint.ts'
import { projectDocuments } from '../../src/cli/project-documents.ts'
import { pathsWith } from '../support/document-with-schema.ts'
import { enterDirectory } from '../support/enter-directory.ts'
import { ownPath } from '../support/own-path.ts'
import { startPages } from '../support/url-server.ts'

const documents = {
  v1: { document: 'openapi/v1.yaml', overlays: ['fixes/v1.yaml'] },
  v2: { document: 'openapi/v2.yaml' },
}

const manifestOf = (settings: object) => JSON.stringify({ 'fastify-contract': settings })

const overlay = (maximum: number) => `overlay: 1.1.0
info: { title: Limit, version: 1.0.0 }
actions:
  - { target: $..schema, update: { maximum: ${maximum} } }
`

/** Changes to a project with two documents, the first of which has an overlay. */
const enterProject = (t: Test) =>
  enterDirectory(t, {
    'package.json': manifestOf({ documents }),
    openapi: {
      'v1.yaml': pathsWith('{ type: integer }'),
      'v2.yaml': pathsWith('{ type: string }').replace('postA', 'postB'),
    },
    fixes: { 'v1.yaml': overlay(7) },
    'other.yaml': pathsWith('{ type: boolean }'),
    node_modules: {},
  })

/** Returns what a command prints, and its exit code. */
async function printed(
  t: Test,
  command: () => Promise<void>,
): Promise<{ lines: string[]; errors: string; code: unknown }> {
  const lines: string[] = []
  const errors: string[] = []
  const logs = [
    t.capture(console, 'log', (...words: unknown[]) => void lines.push(words.join(' '))),
    t.capture(console, 'warn', (...words: unknown[]) => void lines.push(words.join(' '))),
    t.capture(process.stderr, 'write', (text: unknown) => errors.push(String(text)) > 0),
  ]
  const before = process.exitCode
  process.exitCode = undefined
  try {
    await command()
    return { lines, errors: errors.join(''), code: process.exitCode }
  } finally {
    process.exitCode = before
    for (const log of logs) log.restore()
  }
}

const read = (path: string) => readFileSync(path, 'utf8')

const invalid = () => writeFileSync('openapi/v1.yaml', pathsWith('{ type: text }'))

t.test('generate writes the files of each document into its directory, and prints the handlers of each', async (t) => {
  enterProject(t)
  mkdirSync('src/v2', { recursive: true })
  writeFileSync('src/v2/handlers.ts', '')
  const { lines, code } = await printed(t, () => generate([]))
  t.equal(code, 0)
  const text = lines.join('\n')
  t.match(text, /^v1: openapi\/v1\.yaml\n(?:.*\n)*new handlers:\n[\s\S]*async postA\(/)
  t.match(text, /^v2: openapi\/v2\.yaml\n(?:.*\n)*new, for src\/v2\/handlers\.ts:\n[\s\S]*async postB\(/m)
  t.same(readdirSync('generated'), ['v1', 'v2'])
  t.match(read('generated/v1/openapi.json'), '"maximum": 7')
  t.match(read('generated/v2/handler-types.d.ts'), 'postB')
  t.same(await printed(t, () => generate(['--check'])), { lines: [], errors: '', code: 0 })
  t.same((await printed(t, () => generate([]))).lines, [
    'v1: openapi/v1.yaml',
    'up to date',
    'v2: openapi/v2.yaml',
    'up to date',
  ])
})

t.test('a document that cannot be served does not keep the others from being generated', async (t) => {
  enterProject(t)
  invalid()
  const { errors, code } = await printed(t, () => generate([]))
  t.equal(code, 1)
  t.match(errors, /^v1: openapi\/v1\.yaml cannot be served as written:\n/)
  t.notOk(existsSync('generated/v1'))
  t.ok(existsSync('generated/v2/contract.mjs'))
})

t.test('generate --check names the stale files of each document, and what is beside their directories', async (t) => {
  enterProject(t)
  await printed(t, () => generate([]))
  writeFileSync('fixes/v1.yaml', overlay(8))
  const { lines, errors, code } = await printed(t, () => generate(['--check']))
  t.equal(code, 1)
  t.same(lines, [])
  t.match(
    errors,
    /^v1: these files are out of date; run fastify-contract generate: generated\/v1\/contract\.mjs, [^\n]*\n$/,
  )
  writeFileSync('fixes/v1.yaml', overlay(7))
  writeFileSync('generated/contract.mjs', '')
  const surplus = 'these files are not generated from the document; remove them: generated/contract.mjs'
  await t.rejects(
    printed(t, () => generate(['--check'])),
    { message: surplus },
  )
  t.equal((await printed(t, () => generate([]))).lines.at(-1), surplus)
  t.same((await printed(t, () => generate(['--check', '--only', 'v2']))).lines, [], 'not with --only')
})

t.test('--only and a file of package.json choose one document, whose output is that of a single one', async (t) => {
  enterProject(t)
  const only = await printed(t, () => generate(['--only', 'v2']))
  t.match(only.lines.at(-1), /^wrote generated\/v2\/contract\.mjs, /)
  t.notOk(only.lines.includes('v2: openapi/v2.yaml'))
  t.same(readdirSync('generated'), ['v2'])
  const named = await printed(t, () => generate(['./openapi/v1.yaml']))
  t.match(named.lines.at(-1), /^wrote generated\/v1\/contract\.mjs, /)
  t.match(read('generated/v1/openapi.json'), '"maximum": 7', 'the overlays are those of package.json')
  await printed(t, () => generate(['other.yaml', '--out', 'other']))
  t.ok(existsSync('other/contract.mjs'), 'any other file is a document without a name')
  invalid()
  await t.rejects(
    printed(t, () => generate(['--only', 'v1'])),
    { message: /^openapi\/v1\.yaml cannot be served/ },
  )
})

t.test('a choice that is not clear is rejected in one line', async (t) => {
  enterProject(t)
  const rejected: [args: string[], message: string][] = [
    [['--only', 'v3'], '--only: there is no document "v3"; expected v1, v2'],
    [['openapi/v1.yaml', '--only', 'v1'], 'DOCUMENT and --only exclude each other; leave one out'],
    [
      ['--overlays', 'a.yaml'],
      '--overlays is of one document, and package.json names several; choose one with --only NAME',
    ],
  ]
  for (const [args, message] of rejected) await t.rejects(generate(args), { name: 'UsageError', message })
  for (const option of ['--since', '--since-overlays'])
    await t.rejects(changes([option, 'other.yaml']), {
      message: `${option} is of one document, and package.json names several; choose one with --only NAME`,
    })
  writeFileSync('package.json', manifestOf({ document: 'openapi/v1.yaml' }))
  await t.rejects(generate(['--only', 'v1']), {
    message: '--only: package.json has no fastify-contract.documents; leave out --only',
  })
})

t.test('settings of several documents that no command can use are named with their remedy', async (t) => {
  enterProject(t)
  const document = 'openapi/v1.yaml'
  const name = (given: string) =>
    `package.json, fastify-contract.documents: ${JSON.stringify(given)} is no name of a document; use lower-case letters and digits, with single hyphens, underscores or dots between them, such as v1`
  const wrong: [settings: object, message: string][] = [
    [
      { documents, document },
      'package.json, fastify-contract: documents and document exclude each other; write document into the documents that need it',
    ],
    [{ documents: [] }, 'package.json, fastify-contract.documents: [] is no object; write an object'],
    [
      { documents: {} },
      'package.json, fastify-contract.documents is empty; write a name with its document, such as v1',
    ],
    [
      { documents: { v1: document } },
      `package.json, fastify-contract.documents.v1: "${document}" is no object; write an object`,
    ],
    [
      { documents: { v1: {} } },
      'package.json, fastify-contract.documents.v1: the setting document is missing; write the path of the OpenAPI document',
    ],
    [
      { documents: { v1: { document, path: 'a' } } },
      'package.json, fastify-contract.documents.v1.path: unknown setting; expected document, origin, allowOrigin, client, overlays, skipUnsupported, prefix',
    ],
    [
      { documents: { v1: { document: 7 } } },
      'package.json, fastify-contract.documents.v1.document: 7 is no string; write a string',
    ],
    [
      { documents: { v1: { document, prefix: 'v1' } } },
      'package.json, fastify-contract.documents.v1.prefix: "v1" is no prefix of paths; write segments that begin with a slash, such as /api/v1',
    ],
    [
      { documents: { v1: { document, prefix: '/v2' }, v2: { document, prefix: '/v2/b' } } },
      'package.json, fastify-contract.documents: the prefix /v2 of v1 contains the prefix /v2/b of v2; use prefixes that do not contain others',
    ],
    ...['V1', '../a', 'a/b', 'a b', '.', 'v1.', ''].map((given): [object, string] => [
      { documents: { [given]: { document } } },
      name(given),
    ]),
  ]
  for (const [settings, message] of wrong) {
    writeFileSync('package.json', manifestOf(settings))
    await t.rejects(generate([]), { message }, message)
  }
  writeFileSync('package.json', manifestOf({ documents: { '2024-10-01': { document }, 'v1.1_b': { document } } }))
  t.equal((await printed(t, () => generate([]))).code, 0)
  t.same(readdirSync('generated'), ['2024-10-01', 'v1.1_b'])
})

t.test('lint advises on each document, and the exit code is the worst', async (t) => {
  enterProject(t)
  writeFileSync('redocly.yaml', 'rules: { operation-summary: error }\n')
  writeFileSync('openapi/v2.yaml', pathsWith('{ type: string }').replace('post:', 'post:\n      summary: Posts.'))
  const { lines, code } = await printed(t, () => lint([]))
  t.equal(code, 1)
  t.match(lines, [
    'v1: openapi/v1.yaml',
    /^openapi\/v1\.yaml:5:5 error operation-summary: /,
    '1 findings, 1 errors',
    'v2: openapi/v2.yaml',
    'no findings',
  ])
  t.same((await printed(t, () => lint(['--only', 'v2']))).lines, ['no findings'])
})

t.test('changes compares each document with its own releases', async (t) => {
  enterProject(t)
  const { lines } = await printed(t, () => changes(['--release']))
  t.same(lines, [
    'v1: openapi/v1.yaml',
    'wrote openapi/released/v1/1.0.0.json',
    'v2: openapi/v2.yaml',
    'wrote openapi/released/v2/1.0.0.json',
  ])
  writeFileSync('openapi/v2.yaml', pathsWith('{ type: string, maxLength: 3 }').replace('postA', 'postB'))
  const text = await printed(t, () => changes([]))
  t.match(text, {
    lines: [
      'v1: openapi/v1.yaml',
      'no changes since 1.0.0',
      'v2: openapi/v2.yaml',
      /^openapi\/v2\.yaml:7:\d+ breaking: [\s\S]*\nsince 1\.0\.0: 1 breaking, 0 compatible, 0 text; the next version is 2\.0\.0$/,
    ],
    errors: 'v2: info.version is 1.0.0; raise it to 2.0.0 or higher\n',
    code: 1,
  })
  const { lines: json } = await printed(t, () => changes(['--format', 'json']))
  t.match(JSON.parse(json.join('\n')), {
    v1: { since: '1.0.0', changes: [] },
    v2: { next: '2.0.0', changes: [{ severity: 'breaking' }] },
  })
  const { lines: markdown } = await printed(t, () => changes(['--format', 'markdown']))
  t.match(markdown, [/^### No changes of `openapi\/v1\.yaml`$/, /^### Changes of `openapi\/v2\.yaml`: 1 breaking/])
  const since = await printed(t, () => changes(['--only', 'v2', '--since', 'other.yaml']))
  t.match(since.lines.at(-1), /since other\.yaml: /)
})

t.test('docs writes the pages of each document, and a page with links to them', async (t) => {
  enterProject(t)
  await printed(t, () => generate([]))
  const written = (name: string) => `wrote ${join('dist', 'docs', name, 'index.html')}, history.html and openapi.json`
  t.same((await printed(t, () => docs([]))).lines, [written('v1'), written('v2'), 'wrote dist/docs/index.html'])
  const page = read('dist/docs/index.html')
  for (const name of ['v1', 'v2']) {
    t.match(page, `<a href="./${name}/index.html">A 1.0.0</a>, below <code>/${name}</code>`)
    t.ok(existsSync(`dist/docs/${name}/history.html`))
  }
  t.match(read('dist/docs/v2/index.html'), 'postB')
  writeFileSync('openapi/v2.yaml', read('openapi/v2.yaml').replace('1.0.0', '1.1.0'))
  t.match(await printed(t, () => docs([])), { code: 1, errors: /^v2: these files are out of date/ })
  await printed(t, () => generate([]))
  t.match(read('dist/docs/index.html'), '<a href="./v2/index.html">A 1.1.0</a>', 'generate brings it up to date')
})

t.test('the pages of a document with another prefix are where the service looks for them', async (t) => {
  const directory = enterProject(t)
  const { v1, v2 } = documents
  writeFileSync('package.json', manifestOf({ documents: { v1: { ...v1, prefix: '/api/v1' }, v2 } }))
  await printed(t, () => generate([]))
  t.same((await printed(t, () => docs([]))).lines, [
    'wrote dist/docs/api/v1/index.html, history.html and openapi.json',
    'wrote dist/docs/v2/index.html, history.html and openapi.json',
    'wrote dist/docs/index.html',
  ])
  t.match(read('dist/docs/index.html'), '<a href="./api/v1/index.html">A 1.0.0</a>, below <code>/api/v1</code>')
  writeFileSync('openapi/v1.yaml', read('openapi/v1.yaml').replace('1.0.0', '1.1.0'))
  await printed(t, () => generate([]))
  t.match(read('dist/docs/api/v1/openapi.json'), '1.1.0', 'generate brings them up to date')
  const { find } = run(t, resolve(ownPath('src/cli.ts')), { PORT: '0' }, ['docs', '--serve'], directory)
  const [, url = ''] = await find('stdout', /^(http:\S+)\/$/m)
  for (const [path, status] of [
    ['/api/v1/index.html', 200],
    ['/api/v1/', 200],
    ['/v1/index.html', 404],
    ['/api/index.html', 404],
  ] as const)
    t.equal((await fetch(url + path)).status, status, path)
})

t.test('docs --serve serves the pages of each document, and the page with the links', async (t) => {
  const directory = enterProject(t)
  await printed(t, () => generate([]))
  const { find } = run(t, resolve(ownPath('src/cli.ts')), { PORT: '0' }, ['docs', '--serve'], directory)
  const [, url = ''] = await find('stdout', /^(http:\S+)\/$/m)
  const get = async (path: string) => {
    const response = await fetch(url + path)
    return [response.status, await response.text()]
  }
  t.match(await get('/'), [200, /<a href="\.\/v1\/index\.html">/])
  t.match(await get('/v1/index.html'), [200, 'postA'])
  t.match(await get('/v2/'), [200, 'postB'])
  t.match(await get('/v2/openapi.json'), [200, /^\{/])
  for (const path of ['/v3/index.html', '/v1/../../package.json', '/v1//index.html', '//index.html'])
    t.match(await get(path), [404, ''], path)
})

t.test('generate --update fetches the documents with an origin, and generates the others', async (t) => {
  const { at } = await startPages(t, { '/v1.yaml': pathsWith('{ type: integer, minimum: 1 }') })
  enterProject(t)
  await printed(t, () => generate([]))
  const origin = `${at}/v1.yaml`
  const settings = { ...documents, v1: { ...documents.v1, origin } }
  writeFileSync('package.json', manifestOf({ documents: settings }))
  const { lines, code } = await printed(t, () => generate(['--update']))
  t.equal(code, 0)
  t.match(lines, [
    'v1: openapi/v1.yaml',
    /breaking: modified \S+minimum/,
    /./,
    /^wrote openapi\/v1\.yaml, generated\/v1\/contract\.mjs/,
    'v2: openapi/v2.yaml',
    'up to date',
  ])
  t.match(read('generated/v1/openapi.json'), '"maximum": 7', 'the overlays apply to the fetched document')
  await t.rejects(
    printed(t, () => generate(['--update', '--only', 'v2'])),
    { message: /^package\.json has no fastify-contract\.documents\.v2\.origin, / },
  )
})

t.test('the example of the page is a configuration', async (t) => {
  const page = read(ownPath('docs/versions.md'))
  const [, example = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? []
  enterDirectory(t, { 'package.json': `{${example}}`, openapi: { 'v1.yaml': '', 'v2.yaml': '' } })
  t.same(
    projectDocuments().map((one) => [one.name, one.prefix, one.path(), one.overlays(), one.own('src/handlers.ts')]),
    [
      ['v1', '/v1', 'openapi/v1.yaml', ['openapi/v1.overlay.yaml'], 'src/v1/handlers.ts'],
      ['v2', '/v2', 'openapi/v2.yaml', [], 'src/v2/handlers.ts'],
    ],
  )
})

t.test('the bodies of errors are those of the module of a document, or else of the project', async (t) => {
  enterProject(t)
  mkdirSync('src/v2', { recursive: true })
  for (const path of ['src/error-body.ts', 'src/v2/error-body.ts', 'src/own.ts']) writeFileSync(path, '')
  const modules = (given?: string) => projectDocuments().map((one) => one.errorModule(given))
  t.same(modules(), ['src/error-body.ts', 'src/v2/error-body.ts'])
  t.same(modules('src/own.ts'), ['src/own.ts', 'src/own.ts'])
})
