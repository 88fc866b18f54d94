import { chmodSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { docstringProblems } from '../../scripts/lint/docstrings.ts'
import { readmeProblems } from '../../scripts/lint/documentation.ts'
import { linkProblems } from '../../scripts/lint/markdown-links.ts'
import { run } from '../support/child-process.ts'

t.test('lint runs every check whatever they find, and --fix formats the code', async (t) => {
  const directory = t.testdir({ 'README.md': '# A\n' })
  for (const [name, code] of Object.entries({ redocly: 1, biome: 0, tsc: 0, cspell: 0 })) {
    writeFileSync(join(directory, name), `#!/bin/sh\necho ${name} "$@"\nexit ${code}\n`)
    chmodSync(join(directory, name), 0o755)
  }
  const environment = { PATH: `${directory}:${process.env.PATH}` }
  const lint = (...args: string[]) => run(t, resolve('scripts/lint.ts'), environment, args, directory).untilEnded()
  const others = 'tsc\ncspell --config scripts/lint/cspell.yaml --no-progress --no-summary\n'
  t.match(await lint(), { code: 1, stdout: `redocly lint\nbiome ci --error-on-warnings .\n${others}`, stderr: /^$/ })
  t.match(await lint('--fix'), {
    code: 1,
    stdout: `redocly lint\nbiome check --write --error-on-warnings .\n${others}`,
  })
  writeFileSync(join(directory, 'redocly'), '#!/bin/sh\n')
  t.match(await lint(), { code: 0 })

  writeFileSync(join(directory, 'README.md'), '[a](missing.md)\n')
  t.match(await lint(), { code: 1, stderr: 'README.md: missing.md leads to no file; correct the link\n' })
  writeFileSync(join(directory, 'README.md'), '# A\n')
  writeFileSync(join(directory, 'cspell'), '#!/bin/sh\nexit 1\n')
  t.match(await lint(), { code: 1 })
})

t.test('a README has at most 150 lines', async (t) => {
  t.same(readmeProblems('a\n'.repeat(150)), [])
  t.same(readmeProblems('a\n'.repeat(151)), ['README.md has 151 lines, at most 150 are allowed; move details to docs/'])
})

const body = 'export function f() {}'

t.test('a docstring begins with a verb in the third person', async (t) => {
  const right = [
    `/** Lower-cases a text. */\n${body}`,
    `/** Parses. */\n${body}`,
    `/** Reads a file. */\nexport function f(a: string): void\n${body}`,
    '/** Takes what it gets. */\nfunction f() {}',
    '/** The size of a page. */\nexport const size = 7',
  ]
  for (const text of right) t.same(docstringProblems('a.ts', text), [], text)
  for (const opening of ['Takes', 'This', 'Return', 'A', 'returns', '`f`']) {
    const [problem] = docstringProblems('a.ts', `\n/** ${opening} a plant. */\n${body}`)
    t.match(problem, `a.ts:3: f has a docstring that begins with "${opening}"; begin with a verb`)
  }
  for (const text of [body, 'export const f = () => 1', `// Returns a plant.\n${body}`]) {
    t.match(docstringProblems('a.ts', text), [/^a\.ts:[12]: f has no docstring; write one that begins with /], text)
  }
})

t.test('a link leads to a file and a heading', async (t) => {
  const other = '# One\n## What `npm run a` does: 1.0 & more_of it\n## Same\n## Same\n```sh\n# a comment\n```'
  const problemsOf = (text: string) =>
    linkProblems(t.testdir({ 'page.md': text, docs: { 'other.md': other, 'my file.txt': '' } }), 'page.md')
  const right = [
    '[a](/docs/other.md#one "title")',
    '[a](<docs/my file.txt>)',
    '[a](docs/other.md#what-npm-run-a-does-10--more_of-it)',
    '[a](docs/other.md#same-1)',
    '# Here\n[a](#here)',
    '[a](https://example.com/missing.md#missing)',
    '`[a](missing.md)` and ``b ` [a](missing.md)``',
    '```md\n[a](missing.md)\n```',
  ]
  for (const text of right) t.same(problemsOf(text), [], text)
  const wrong: Record<string, string> = {
    '![a](missing.png "title")': 'missing.png leads to no file',
    '[a][b]\n\n[b]: missing.md': 'missing.md leads to no file',
    '[a](#missing)': '#missing leads to no heading',
    '[a](docs/other.md#same-2)': 'docs/other.md#same-2 leads to no heading',
    '[a](docs/other.md#a-comment)': 'docs/other.md#a-comment leads to no heading',
  }
  for (const [text, problem] of Object.entries(wrong)) {
    t.same(problemsOf(text), [`page.md: ${problem}; correct the link`], text)
  }
})
