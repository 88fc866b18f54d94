import { readFileSync } from 'node:fs'
import t from 'tap'
import { captured as all, metricsText } from './support/metrics-text.ts'

type Target = { expr: string; legendFormat: string; datasource: object }
type Panel = { title: string; gridPos: { x: number; y: number; w: number; h: number }; targets: Target[] }

const dashboard = JSON.parse(readFileSync('deploy/grafana-dashboard.json', 'utf8'))
const panels: Panel[] = dashboard.panels
const targets = panels.flatMap(({ targets }) => targets)
const variables: { name: string; definition?: string }[] = dashboard.templating.list
const queries = [...targets.map(({ expr }) => expr), ...variables.flatMap(({ definition = [] }) => definition)]

const text = await metricsText()

t.test('the queries use metrics that the service exports', async (t) => {
  const shown = all([text], /^(\w+)(?=[{ ])/gm)
  const asked = all(queries, /(?<![$\w])([a-z]+_\w+)(?![\w(])/g)
  asked.delete('node_version')
  t.ok(asked.size > 20)
  for (const metric of asked) t.ok(shown.has(metric), metric)
})

t.test('every exported metric has a panel', async (t) => {
  const families = all([text], /^# TYPE (\w+)/gm)
  t.ok(families.size > 15)
  for (const family of families) {
    t.ok(
      queries.some((query) => new RegExp(`\\b${family}(_bucket|_sum|_count)?\\b`).test(query)),
      family,
    )
  }
})

t.test('the labels are those of the service and instance', async (t) => {
  const shown = all([text], /[{,](\w+)="/g).add('instance')
  const selected = all(queries, /[{,] *(\w+)[!=]/g)
  const grouped = new Set(Array.from(all(queries, /\bby \(([^)]*)\)/g)).flatMap((list) => list.split(', ')))
  const named = all(
    targets.map(({ legendFormat }) => legendFormat),
    /\{\{(\w+)\}\}/g,
  )
  t.same(selected, new Set(['instance', 'status']))
  for (const label of [...selected, ...grouped, ...named]) t.ok(shown.has(label), label)
  for (const { expr, legendFormat } of targets) {
    const [, list] = /\bby \(([^)]*)\)/.exec(expr) ?? []
    for (const label of list === undefined ? [] : all([legendFormat], /\{\{(\w+)\}\}/g)) {
      t.ok(list?.split(', ').includes(label), `${expr} keeps the label ${label}`)
    }
  }
})

t.test('panels use the selected data source and do not overlap', async (t) => {
  const names = new Set(variables.map(({ name }) => `$${name}`)).add('$__rate_interval')
  for (const variable of all(queries, /(\$\w+)/g)) t.ok(names.has(variable), variable)
  for (const { datasource } of targets) t.match(datasource, { type: 'prometheus', uid: /^\$\{datasource\}$/ })
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.trunc(cell / w)}`),
  )
  t.equal(new Set(cells).size, cells.length)
})
