import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { captured, metricsText } from '../support/metrics-text.ts'
import { cases, type Series } from './alert-cases.ts'
import { numberOf } from './documented-configuration.ts'
import { runTool } from './run-tool.ts'

type Rule = {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; description: string }
}
type Rules = { groups: [{ rules: Rule[] }] }
type Scrape = { rule_files: string[]; scrape_configs: [{ job_name: string }] }

const path = 'deploy/alert-rules.yaml'
const [{ rules }] = (parse(readFileSync(path, 'utf8')) as Rules).groups
const expressions = rules.map(({ expr }) => expr)
const ruleOf = (name: string) => rules.find(({ alert }) => alert === name)?.expr.replaceAll(/\s+/g, ' ')
const scrape: Scrape = parse(readFileSync('deploy/prometheus.yaml', 'utf8'))

t.test('the rules use metrics and labels that the service exports', async (t) => {
  const shown = await metricsText()
  const metrics = captured([shown], /^(\w+)(?=[{ ])/gm).add('up')
  const asked = captured(expressions, /(?<!["\w])(up|[a-z]+_\w+)(?=[{[ )])(?!"|\()/g)
  t.ok(asked.size > 10)
  for (const metric of asked) t.ok(metrics.has(metric), metric)
  const labels = captured([shown], /[{,](\w+)="/g)
    .add('job')
    .add('instance')
  const grouped = [...captured(expressions, /\bby \(([^)]*)\)/g)].flatMap((list) => list.split(', '))
  for (const label of [...captured(expressions, /[{,] *(\w+)[!=]/g), ...grouped]) t.ok(labels.has(label), label)
  const reasons = captured([readFileSync('generated/error-numbers.ts', 'utf8')], /^ {2}(\w+): /gm).add('connections')
  for (const reason of captured(expressions, /reason="(\w+)"/g)) t.ok(reasons.has(reason), reason)
  t.same(captured(expressions, /job="([^"]+)"/g), new Set([scrape.scrape_configs[0].job_name]))
})

t.test('every alert has a summary, a severity and a remedy', async (t) => {
  for (const { alert, labels, annotations } of rules) {
    t.match(alert, /^PlantStore[A-Z]\w+$/)
    t.match(labels.severity, /^(critical|warning)$/, alert)
    t.match(annotations, { summary: /^.{20,}$/, description: /^[A-Z].{20,}\.$/ }, alert)
    const named = captured([annotations.description], /(?<!\w)(PlantStore\w+)/g)
    for (const other of named) t.ok(ruleOf(other), `${alert} refers to ${other}`)
    const variables = captured([annotations.description], /\b([A-Z]+_[A-Z_]+)\b/g)
    const table = readFileSync('docs/configuration.md', 'utf8')
    for (const variable of variables) t.ok(table.includes(`| \`${variable}\` |`), `${alert} names ${variable}`)
  }
})

t.test('thresholds match the limits', async (t) => {
  const ends = (alert: string, end: string) => t.ok(ruleOf(alert)?.endsWith(` > ${end}`), `${alert}: ${ruleOf(alert)}`)
  ends('PlantStoreSlow', String(numberOf('HANDLER_TIMEOUT') / 2_000))
  ends('PlantStoreEventLoopDelayed', String(numberOf('EVENT_LOOP_DELAY_LIMIT') / 2_000))
  t.match(ruleOf('PlantStoreConnectionsNearLimit'), ` > ${0.8 * numberOf('CONNECTIONS_LIMIT')} or `)
  const memory = /> 0\.8 \* (\d+) \* 1024 \* 1024$/.exec(ruleOf('PlantStoreMemoryHigh') ?? '')?.[1]
  t.equal(parse(readFileSync('compose.yaml', 'utf8'), { merge: true }).services.service.mem_limit, `${memory}m`)
  t.match(readFileSync('deploy/kubernetes.yaml', 'utf8'), `limits: {memory: ${memory}Mi`)
  t.match(readFileSync('deploy/plant-store.service', 'utf8'), `\nMemoryMax=${memory}M\n`)
})

const skip = (await runTool('promtool', '--version'))?.code === 0 ? false : 'NOT RUN: there is no promtool'

t.test('promtool accepts the rules and the configuration', { skip }, async (t) => {
  t.match(await runTool('promtool', 'check', 'rules', '--lint=all', '--lint-fatal', path), { code: 0 })
  t.match(await runTool('promtool', 'check', 'config', '--lint=all', '--lint-fatal', 'deploy/prometheus.yaml'), {
    code: 0,
  })
})

t.test('every alert fires for its cause and for no healthy instance', { skip }, async (t) => {
  t.same(Object.keys(cases).sort(), rules.map(({ alert }) => alert).sort())
  const seriesOf = (series: Series, instance: string) =>
    Object.entries(series).map(([name, values]) => ({
      series: name.replace(/[}]$|$/, (end) => `${end ? ',' : '{'}job="plant-store",instance="${instance}"}`),
      values,
    }))
  const tests = Object.entries(cases).map(([alert, { healthy, ill, alsoFires = [] }]) => ({
    name: alert,
    interval: '15s',
    input_series: [...seriesOf(healthy, 'healthy'), ...seriesOf(ill, 'ill')],
    promql_expr_test: [
      {
        expr: 'count by (alertname, instance) (ALERTS{alertstate="firing"})',
        eval_time: '20m',
        exp_samples: [alert, ...alsoFires].map((name) => ({
          labels: `{alertname="${name}"${Object.keys(ill).length > 0 ? ', instance="ill"' : ''}}`,
          value: 1,
        })),
      },
    ],
  }))
  const file = join(t.testdir({}), 'alert-tests.yaml')
  writeFileSync(file, JSON.stringify({ rule_files: [resolve(path)], evaluation_interval: '15s', tests }))
  t.match(await runTool('promtool', 'test', 'rules', file), { code: 0 })
})
