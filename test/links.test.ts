import { readFileSync } from 'node:fs'
import t from 'tap'
import { markdownPages, readmeProblems } from '../scripts/lint/documentation.ts'
import { linkProblems } from '../scripts/lint/markdown-links.ts'

const pages = markdownPages('.')

t.test('every documentation link leads to an existing file and heading', async (t) => {
  for (const page of pages) t.same(linkProblems('.', page), [], page)
})

t.test('every page of docs/ is linked from the README', async (t) => {
  const readme = readFileSync('README.md', 'utf8')
  for (const page of pages.filter((page) => page.startsWith('docs/'))) t.ok(readme.includes(`(${page})`), page)
  t.same(readmeProblems(readme), [])
})
