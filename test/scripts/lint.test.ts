import { chmodSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { run } from 'fastify-contract-test-support/child-process'
import t from 'tap'
import { linkProblems } from '../../scripts/lint/markdown-links.ts'

t.test('lint runs every check whatever they find, and --fix formats the code', async (t) => {
  const linters = 'scripts/lint/node_modules/.bin'
  const directory = t.testdir({ 'README.md': '# A\n', [linters]: {} })
  const commands = { redocly: 1, [`${linters}/biome`]: 0, tsc: 0, [`${linters}/cspell`]: 0 }
  for (const [name, code] of Object.entries(commands)) {
    writeFileSync(join(directory, name), `#!/bin/sh\necho ${basename(name)} "$@"\nexit ${code}\n`)
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
  writeFileSync(join(directory, linters, 'cspell'), '#!/bin/sh\nexit 1\n')
  t.match(await lint(), { code: 1 })
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
  for (const [text, problem] of Object.entries(wrong))
    t.same(problemsOf(text), [`page.md: ${problem}; correct the link`], text)
})

const module = '../../scripts/lint/markdown-problems.js'
const { markdownProblems }: { markdownProblems(text: string): string[] } = await import(module)

const harmless = [
  'Send `Authorization: Bearer <ACCESS_TOKEN>`, or ``a ` <x>``.',
  '```html\n<iframe srcdoc="a">\n```\n\n~~~\n<b onclick>\n~~~',
  'See <https://example.com/?a=1&b=2> or write to <mailto:a@example.com>.',
  'H<sub>2</sub>O, 10<SUP>3</SUP>, one<br>two<br/>three<br />, <b>all</b> of it',
  'a < b, a <= b, a<1, 1 <2, <-, <=, ->',
  '&lt;img src=x onerror=1&gt; and &#60;script&#62;',
  '[a](https://example.com/a_(b) "title"), [b](#/plants), [c](../c?d=e:f&g), [d](mailto:a@example.com), ![e](e.png)',
  'a [note]: nothing more',
  '[a]: https://example.com "title"',
  'an unpaired ` is only a character',
  '{{x-error-numbers}} and {a}',
]

t.test('Markdown, code, links to web pages and elements of the list are harmless', async (t) => {
  for (const text of harmless) t.same(markdownProblems(text), [], text)
})

const elements: Record<string, string> = {
  '<iframe srcdoc="<script>a</script>">': '<iframe',
  'a <img src=x onerror=1>': '<img',
  'a <svg/onload=1>': '<svg/onload=1>',
  'a </script>': '</script>',
  'a <b onclick="1">b</b>': '<b',
  'a <b\nonclick="1">b</b>': '<b',
  'a <SCRIPT>': '<SCRIPT>',
  'a <x-y>': '<x-y>',
  'a <img never closed': '<img',
  '<!-- a -->': '<!--',
  '<?a?>': '<?a?>',
  '<![CDATA[a]]>': '<![CDATA[a]]>',
  '    <img>': '<img>',
  '<javascript:1>': '<javascript:1>',
}

t.test('an element outside the list, a comment or an instruction is reported', async (t) => {
  for (const [text, tag] of Object.entries(elements))
    t.match(markdownProblems(text), [RegExp(`^raw HTML ${tag.replaceAll(/[?[\]]/g, '\\$&')} is not allowed;`)], text)
})

/** Texts that at least one Markdown parser does not treat as code. */
const noCode = {
  'an escaped backtick': '\\`<img>`',
  'a backslash within code': '`\\`<img>`',
  'code that began in the line before': 'a ` b\nc ` <img> `',
  'backticks of another number': '``<img>`',
  'two cells of a table': '| ` | <img> | ` |',
  'a definition that goes on': '[a]:\n```\n"<img>\n```\n"',
  'a fence that is not closed': '```\n<img>',
  'a fence in a list': '- ```\n<img>\n```',
  'a fence within a list': '- a\n\n  ```\n<img>\n  ```',
  'a fence that an indented one closed': '```\n ```\n<img>\n```',
  'a fence with a backtick behind it': '```a`b\n<img>\n```',
  'a fence in the head that Markdoc skips': '---\n```\n---\n<img>\n```',
}

t.test('text that only some parsers read as code is not code', async (t) => {
  for (const [name, text] of Object.entries(noCode))
    t.match(markdownProblems(text).join('\n'), /raw HTML <img> is not allowed/, name)
})

t.test('an allowed element does not begin an HTML block', async (t) => {
  for (const text of ['<b>\n```\n<img>\n```', '> <b>', '- 1. <br>', '  <sub>a</sub>'])
    t.match(markdownProblems(text), [/start of a line/], text)
})

t.test('a link that a browser could run is reported', async (t) => {
  const destinations = [
    'javascript:1',
    'JavaScript:1',
    'data:text/html,a',
    'vbscript:a',
    'java&Tab;script:1',
    '\u0001javascript:1',
  ]
  for (const destination of destinations)
    for (const text of [`[a](${destination})`, `![a](${destination} "b")`, `[a]: ${destination}`])
      t.match(markdownProblems(text), [/^a link to .* is not allowed; use https:, /], text)
  for (const text of ['[a](<javascript:1>)', '[a](b c)', '[a](b\\:c)', '[a](b`c) <img> `', '[a](b\n"`") <img> `'])
    t.match(markdownProblems(text)[0], /^a link has no plain destination; write it /, text)
})

t.test('a Markdoc tag is reported, even in code', async (t) => {
  for (const text of ['# a {% onclick="1" %}', '{% html name="iframe" /%}', '`{% a %}`', '```\n{% a %}\n```'])
    t.match(markdownProblems(text), [/^\{% begins a tag of Markdoc; /], text)
})
