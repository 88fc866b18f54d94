import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import { markdownPages, readmeProblems } from '../scripts/lint/documentation.ts'
import { linkProblems } from '../scripts/lint/markdown-links.ts'

const pages = markdownPages('.')

t.test('every documentation link leads to an existing file and heading', async (t) => {
  for (const page of pages) t.same(linkProblems('.', page), [], page)
})

t.test('the README links to every page of docs/ and to the index of decisions', async (t) => {
  const readme = readFileSync('README.md', 'utf8')
  const linked = pages.filter((page) => dirname(page) === 'docs' || page === 'docs/decisions/README.md')
  for (const page of linked) t.ok(readme.includes(`(${page})`), page)
  t.same(readmeProblems(readme), [])
})
