import { readFileSync } from 'node:fs'
import t from 'tap'
import { serviceErrors } from '../../src/contract/errors.ts'
import { ownPath } from '../support/own-path.ts'

t.test('the page on handlers lists the errors of the service by status', async (t) => {
  const page = readFileSync(ownPath('docs/handlers.md'), 'utf8')
  const rows = Array.from(page.matchAll(/^\| (\d[\d, ]+) \| (`.*`) \|$/gm), ([, statuses = '', kinds = '']) => [
    statuses.split(', '),
    kinds.match(/\w+/g) ?? [],
  ])
  const documented = rows.flatMap(([statuses = [], kinds = []]) =>
    kinds.map((kind, index) => [kind, Number(statuses[index] ?? statuses[0])]),
  )
  const actual = Object.entries(serviceErrors).map(([kind, { error }]) => [kind, Math.trunc(error / 100)])
  t.same(Object.fromEntries(documented), Object.fromEntries(actual))
})
