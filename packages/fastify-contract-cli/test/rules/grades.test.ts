import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { grades, type Row } from '../../src/reports/grades.ts'
import { gradedLines, refusal, warning } from '../../src/reports/reports.ts'
import { checkDocument } from '../../src/rules/check-document.ts'

const compile = join(import.meta.dirname, '../../src')
const page = join(import.meta.dirname, '../../docs/grades.md')
const rows: [kind: string, row: Row][] = Object.entries(grades)

t.test('the source names each kind that is reported', async (t) => {
  const files = readdirSync(compile, { recursive: true, encoding: 'utf8' })
  const text = files
    .filter((file) => file.endsWith('.ts') && file !== join('reports', 'grades.ts'))
    .map((file) => readFileSync(join(compile, file), 'utf8'))
    .join('\n')
  for (const [kind, { grade }] of rows) t.equal(text.includes(`'${kind}'`), grade !== 'served', `${kind} is ${grade}`)
})

t.test('the grade of a kind decides whether its report is a warning or a problem', async (t) => {
  const get = {
    operationId: 'search',
    requestBody: { content: { 'application/json': {} } },
    responses: { 204: { description: 'Done.' } },
  }
  const document = { openapi: '3.1.0', info: { title: 'Test', version: '1.0.0' }, paths: { '/a': { get } } }
  const { rejected, warnings } = checkDocument(document)
  t.match(warnings, [/^#\/paths\/~1a\/get: many clients and proxies/])
  t.same(rejected, [])
  const strict = { ...grades, 'body-of-get': { grade: 'refused' } } as const
  t.same(checkDocument(document, undefined, strict), { rejected: warnings, warnings: [] })
})

t.test('a report has a kind whose grade it may have', async (t) => {
  const { report, lines } = gradedLines()
  report('unknown-field', '#/a', 'text')
  report('unknown-field', '#/a', 'text')
  report('wrong-type', '#/b', 'text')
  // @ts-expect-error What is served as it is has no message.
  report('reference-in-data', '#/c', 'text')
  t.same([[...lines.advice], [...lines.refused]], [['#/a: text'], ['#/b: text']])
  // @ts-expect-error A kind that is refused is no warning.
  t.equal(warning('wrong-type', '#/a', 'text'), '#/a: text')
  // @ts-expect-error A kind that is a warning is not refused.
  t.equal(refusal('unknown-field', '#/a', 'text'), '#/a: text')
})

/** Returns the page with the tables of the code. */
function withTables(text: string): string {
  const [, ...sections] = text.split(/^(?=## )/m)
  const [introduction = ''] = text.split(/^## /m)
  const tables = new Map(
    Object.entries({ Served: 'served', 'Served with advice': 'advice', Refused: 'refused' }).map(([title, grade]) => [
      title,
      rows.filter(([, row]) => row.grade === grade).map(([, { what, then }]) => `| ${what} | ${then} |\n`),
    ]),
  )
  const written = sections.map((section) => {
    const table = tables.get(/^## (.*)/.exec(section)?.[1] ?? '') ?? []
    return section.replace(/(\|---\|---\|\n)(?:\|.*\n)*/, (_, line) => line + table.join(''))
  })
  return [introduction, ...written].join('')
}

// `tap --snapshot` writes the tables.
t.test('docs/grades.md has the table', async (t) => {
  if (process.env.TAP_SNAPSHOT === '1') writeFileSync(page, withTables(readFileSync(page, 'utf8')))
  const text = readFileSync(page, 'utf8')
  t.equal(text, withTables(text))
  for (const [kind, { what, then }] of rows) {
    t.ok(text.includes(`| ${what} | ${then} |`), `${kind} is on the page`)
    t.match(`${what} ${then}`, /^[^|\n]+$/, `${kind} is a row`)
  }
})
