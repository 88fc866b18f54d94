import t, { type Test } from 'tap'
import { linkProblems } from '../../scripts/lint/markdown-links.ts'

const other = [
  '# One',
  '## What `npm run a` does: 1.0 & more_of it',
  '## Straße',
  '## Same',
  '## Same',
  '## [A link](https://example.com) ##',
  '<a id="written"></a>',
  '```sh',
  '# a comment',
  '```',
].join('\n')

const problemsOf = (t: Test, text: string) =>
  linkProblems(t.testdir({ 'page.md': text, docs: { 'other.md': other, 'my file.txt': '' } }), 'page.md')

const right = [
  '[a](docs/other.md)',
  '[a](docs)',
  '[a](docs/#any)',
  '[a](/docs/other.md#one)',
  '[a](docs/other.md#one "title")',
  '[a](<docs/my file.txt>)',
  '[a](docs/my%20file.txt#L1)',
  '![a](docs/other.md)',
  '[a](docs/other.md#what-npm-run-a-does-10--more_of-it)',
  '[a](docs/other.md#straße)',
  '[a](docs/other.md#same-1)',
  '[a](docs/other.md#a-link)',
  '[a](docs/other.md#written)',
  '# Here\n[a](#here)',
  '[a][b]\n\n[b]: docs/other.md#one',
  '[a](https://example.com/missing.md#missing)',
  '[a](mailto:a@example.com) and [b](//example.com)',
  '`[a](missing.md)` and ``b ` [a](missing.md)``',
  '```md\n[a](missing.md)\n```',
  '- list\n  ~~~\n  [a](missing.md)\n  ~~~',
]

t.test('links to existing files and headings are accepted', async (t) => {
  for (const text of right) t.same(problemsOf(t, text), [], text)
})

const wrong: Record<string, string> = {
  '[a](missing.md)': 'missing.md leads to no file; correct the link',
  '![a](missing.png "title")': 'missing.png leads to no file; correct the link',
  '[a](other.md)': 'other.md leads to no file; correct the link',
  '[a](/other.md)': '/other.md leads to no file; correct the link',
  '[a](<no file.txt>)': 'no file.txt leads to no file; correct the link',
  '[a][b]\n\n[b]: missing.md': 'missing.md leads to no file; correct the link',
  '[a](#missing)': '#missing leads to no heading; correct the link',
  '[a](docs/other.md#two)': 'docs/other.md#two leads to no heading; correct the link',
  '[a](docs/other.md#One)': 'docs/other.md#One leads to no heading; correct the link',
  '[a](docs/other.md#same-2)': 'docs/other.md#same-2 leads to no heading; correct the link',
  '[a](docs/other.md#a-comment)': 'docs/other.md#a-comment leads to no heading; correct the link',
  '```\n[a](b)\n```\n[a](missing.md)': 'missing.md leads to no file; correct the link',
}

t.test('a link to a missing file or heading is found', async (t) => {
  for (const [text, problem] of Object.entries(wrong)) t.same(problemsOf(t, text), [`page.md: ${problem}`], text)
})
