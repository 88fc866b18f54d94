import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { ownPath } from '../support/own-path.ts'

const cli = resolve(ownPath('src/cli.ts'))
const tsx = import.meta.resolve('tsx')

const documentOf = (version: string, properties: object) => ({
  openapi: '3.1.0',
  info: { title: 'Boxes', version },
  paths: {
    '/boxes': {
      get: {
        operationId: 'list',
        responses: {
          200: { description: 'Done', content: { 'application/json': { schema: { type: 'object', properties } } } },
        },
      },
    },
  },
})
const text = { type: 'string' }

t.test('changes tells a pipeline what changed, in lines, as JSON, or as annotations', async (t) => {
  const cwd = t.testdir({
    released: { '1.0.0.json': JSON.stringify(documentOf('1.0.0', { size: text, 'a%': text })) },
    'openapi.json': JSON.stringify(documentOf('2.0.0', { size: { type: 'integer' }, note: text }), null, 2),
    same: { '2.0.0.json': JSON.stringify(documentOf('2.0.0', { size: { type: 'integer' }, note: text })) },
  })
  const changes = (...args: string[]) =>
    promisify(execFile)(process.execPath, ['--import', tsx, cli, 'changes', '--released', 'released', ...args], {
      cwd,
    }).then(
      ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    )
  const [plain, json, github, failing, none, format, severity] = await Promise.all([
    changes('openapi.json'),
    changes('openapi.json', '--format', 'json'),
    changes('openapi.json', '--format', 'github'),
    changes('openapi.json', '--fail-on', 'breaking'),
    changes('openapi.json', '--released', 'same', '--fail-on', 'text'),
    changes('openapi.json', '--format', 'xml'),
    changes('openapi.json', '--fail-on', 'none'),
  ])
  t.match(plain, { code: 0, stdout: /^openapi.json:\d+:\d+ breaking: modified [^\n]+\/size\/type: [^\n]+\n/m })
  t.match(plain.stdout, /\nsince 1.0.0: 2 breaking, 1 compatible, 0 text; the next version is 2.0.0\n$/)

  const { since, next, changes: found } = JSON.parse(json.stdout)
  t.same([json.code, since, next], [0, '1.0.0', '2.0.0'])
  t.same(
    found.map(({ severity }: { severity: string }) => severity),
    ['breaking', 'breaking', 'compatible'],
  )
  t.match(found[1], { place: /^openapi.json:\d+:\d+$/, change: /^modified #\/paths.*\/size\/type: / })

  t.match(github.stdout, /^::warning file=openapi.json,line=\d+,col=\d+,title=breaking::modified #\/paths/m)
  t.match(github.stdout, /^::warning file=released\/1.0.0.json,line=1,col=\d+,title=breaking::removed .*\/a%25: /m)
  t.match(github.stdout, /^::notice .*title=compatible::added/m)

  t.same([failing.code, failing.stdout, failing.stderr], [1, plain.stdout, ''], 'info.version is high enough')
  t.same([none.code, none.stdout], [0, 'no changes since 2.0.0\n'])
  t.same([format.code, format.stderr], [2, 'changes: --format is "xml"; expected text, json, github, markdown\n'])
  t.same([severity.code, severity.stderr], [2, 'changes: --fail-on is "none"; expected breaking, compatible, text\n'])
})

/** Runs `changes` in a directory. */
const changesIn = (cwd: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, ['--import', tsx, cli, 'changes', ...args], { cwd }).then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )

t.test('changes --since compares with another document, whatever the versions are', async (t) => {
  const properties = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`${'long'.repeat(60)}${index}`, text]),
  )
  const cwd = t.testdir({
    base: {
      'openapi.yaml': `openapi: 3.1.0
info: { title: Boxes, version: v1 }
paths: { $ref: paths.yaml }
`,
      'paths.yaml': JSON.stringify(documentOf('', { size: text, 'a|b\n`@team`': text }).paths),
      'large.json': JSON.stringify(documentOf('1.0.0', properties)),
    },
    'openapi.yaml': JSON.stringify(documentOf('v1', { size: { type: 'integer' }, note: text }), null, 2),
    'unserved.json': JSON.stringify({ ...documentOf('1.0.0', { size: { type: 'text' } }) }),
    'broken.json': '{ "openapi": "3.1.0", "info": 1 }',
  })
  const base = ['openapi.yaml', '--since', 'base/openapi.yaml']
  const [plain, json, markdown, failing, same, large, unserved, release, missing] = await Promise.all([
    changesIn(cwd, ...base),
    changesIn(cwd, ...base, '--format', 'json'),
    changesIn(cwd, ...base, '--format', 'markdown'),
    changesIn(cwd, ...base, '--fail-on', 'breaking'),
    changesIn(cwd, 'openapi.yaml', '--since', 'openapi.yaml', '--format', 'markdown'),
    changesIn(cwd, 'openapi.yaml', '--since', 'base/large.json', '--format', 'markdown'),
    changesIn(cwd, 'unserved.json', '--since', 'base/openapi.yaml'),
    changesIn(cwd, ...base, '--release'),
    changesIn(cwd, 'openapi.yaml', '--since', 'none.yaml'),
  ])
  t.match(plain, { code: 0, stdout: /^base\/paths\.yaml:1:\d+ breaking: removed /m })
  t.match(plain.stdout, /\nsince base\/openapi\.yaml: 2 breaking, 1 compatible, 0 text\n$/)
  t.match(JSON.parse(json.stdout), { since: 'base/openapi.yaml', next: null })
  t.equal(failing.code, 1)

  const [title, , ...list] = markdown.stdout.split('\n')
  t.equal(title, '### Changes of `openapi.yaml`: 2 breaking, 1 compatible, 0 text')
  t.match(list[0], /^- \*\*breaking\*\* (`+)removed #\/paths.*\/a\|b `@team`: .*\1 at `base\/paths\.yaml:1:\d+`$/)
  t.match(list[1], /^- \*\*breaking\*\* (`+)modified #\/paths.*\1 at `openapi\.yaml:\d+:\d+`$/)
  t.match(list[2], /^- compatible `added #/)
  t.equal(same.stdout, '### No changes of `openapi.yaml`\n')
  t.ok(large.stdout.length < 60_000)
  t.match(large.stdout, /\n\n\d+ more changes\n$/)

  t.match(unserved, { code: 0, stdout: /^since base/m }, 'whether a document can be served does not matter')
  t.match(release, { code: 2, stderr: /^changes: --release .*--since/ })
  t.match(missing, { code: 1, stderr: /none\.yaml/ })
})
