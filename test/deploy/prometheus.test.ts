import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { spawnProcess } from 'fastify-contract-test-support/child-process'
import { freePort } from 'fastify-contract-test-support/free-port'
import { httpRequest } from 'fastify-contract-test-support/http-request'
import { until } from 'fastify-contract-test-support/poll'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { captured as all, captured, metricsText } from '../support/metrics-text.ts'
import { startService } from '../support/service-process.ts'
import { cases, type Series } from './alert-cases.ts'
import { configuration as documented, numberOf } from './documented-configuration.ts'
import { runTool } from './run-tool.ts'

type Service = { environment?: Record<string, string>; networks: string[]; ports?: string[]; volumes: string[] }
type Scrape = { job_name: string; static_configs: [{ targets: [string] }] }
type Configuration = { rule_files: string[]; scrape_configs: [Scrape] }

const { service, prometheus }: Record<string, Service> = parse(readFileSync('compose.yaml', 'utf8'), {
  merge: true,
}).services
const configuration: Configuration = parse(readFileSync('deploy/prometheus.yaml', 'utf8'))
const [job] = configuration.scrape_configs
const [target] = job.static_configs[0].targets
const MANAGEMENT_HOST = service?.environment?.MANAGEMENT_HOST ?? '127.0.0.1'

t.test('Prometheus scrapes the admin port over a shared network', async (t) => {
  t.equal(target, `service:${numberOf('MANAGEMENT_PORT')}`)
  t.ok(service?.networks.some((name) => prometheus?.networks.includes(name)))
  t.notOk(service?.ports?.some((published) => published.includes(String(numberOf('MANAGEMENT_PORT')))))
  const mounted = prometheus?.volumes.map((volume) => volume.split(':'))
  t.match(mounted, [
    ['./deploy/prometheus.yaml', '/etc/prometheus/prometheus.yml', 'ro'],
    ['./deploy/alert-rules.yaml', `/etc/prometheus/${configuration.rule_files[0]}`, 'ro'],
  ])
})

/** An address at which other containers could reach this one. */
const address = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address
const noAddress = address === undefined ? 'NOT RUN: this machine has only loopback addresses' : false

t.test(
  'with the environment of compose.yaml the service exposes metrics to its network',
  { skip: noAddress },
  async (t) => {
    const { managementUrl } = await startService(t, { MANAGEMENT_HOST })
    const url = `http://${address}:${new URL(managementUrl).port}/metrics`
    t.match(await httpRequest(url, { headers: { host: target } }), { status: 200, body: /^plant_store_build_info\{/m })
  },
)

const hasPrometheus = (await runTool('prometheus', '--version'))?.code === 0
const skip = noAddress || (hasPrometheus ? false : 'NOT RUN: prometheus is not installed')

t.test('Prometheus finds the service up by deploy/prometheus.yaml, and loads the rules', { skip }, async (t) => {
  const { managementUrl } = await startService(t, { MANAGEMENT_HOST })
  const proxy_url = await resolver(t, `http://${address}:${new URL(managementUrl).port}`)
  const config = join(t.testdir({}), 'prometheus.json')
  writeFileSync(
    config,
    JSON.stringify({
      ...configuration,
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: configuration.rule_files.map((name) => resolve('deploy', name)),
      scrape_configs: [{ ...job, proxy_url }],
    }),
  )
  const listen = `127.0.0.1:${await freePort()}`
  const running = spawnProcess([
    'prometheus',
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(t.testdirName, 'data')}`,
    `--web.listen-address=${listen}`,
  ])
  t.teardown(() => running.stop())
  await running.find('stderr', /Server is ready to receive web requests/)
  const get = async (path: string) => JSON.parse((await httpRequest(`http://${listen}/api/v1/${path}`)).body).data
  const metric = `plant_store_build_info{job="${job.job_name}",instance="${target}"}`
  await until(
    async () => (await get(`query?query=${encodeURIComponent(metric)}`)).result.length === 1,
    () => `a scrape: ${running.output.stderr}`,
  )
  const { activeTargets } = await get('targets')
  t.match(activeTargets, [{ scrapeUrl: `http://${target}/metrics`, health: 'up', lastError: '' }])
  const { groups } = await get('rules')
  t.ok(groups[0].rules.length > 10)
})

/** Starts a proxy that forwards every request to one address, in place of the network's DNS; resolves with its URL. */
async function resolver(t: Test, to: string): Promise<string> {
  const server = createServer(({ url = '', headers }, response) => {
    const forwarded = request(new URL(new URL(url).pathname, to), { headers }, (answer) => {
      response.writeHead(answer.statusCode as number, answer.headers)
      answer.pipe(response)
    })
    forwarded.on('error', () => response.destroy()).end()
  })
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

type Rule = {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; description: string }
}
type Rules = { groups: [{ rules: Rule[] }] }
type AlertScrape = { rule_files: string[]; scrape_configs: [{ job_name: string }] }

const path = 'deploy/alert-rules.yaml'
const [{ rules }] = (parse(readFileSync(path, 'utf8')) as Rules).groups
const expressions = rules.map(({ expr }) => expr)
const ruleOf = (name: string) => rules.find(({ alert }) => alert === name)?.expr.replaceAll(/\s+/g, ' ')
const scrape: AlertScrape = parse(readFileSync('deploy/prometheus.yaml', 'utf8'))

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

t.test('every alert has a summary, a severity and a fix', async (t) => {
  for (const { alert, labels, annotations } of rules) {
    t.match(alert, /^PlantStore[A-Z]\w+$/)
    t.match(labels.severity, /^(critical|warning)$/, alert)
    t.match(annotations, { summary: /^.{20,}$/, description: /^[A-Z].{20,}\.$/ }, alert)
    const named = captured([annotations.description], /(?<!\w)(PlantStore\w+)/g)
    for (const other of named) t.ok(ruleOf(other), `${alert} refers to ${other}`)
    const variables = captured([annotations.description], /\b([A-Z]+_[A-Z_]+)\b/g)
    for (const variable of variables) t.ok(documented.has(variable), `${alert} names ${variable}`)
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

const noAlertRules = (await runTool('promtool', '--version'))?.code === 0 ? false : 'NOT RUN: promtool is not installed'

t.test('promtool accepts the rules and the configuration', { skip: noAlertRules }, async (t) => {
  t.match(await runTool('promtool', 'check', 'rules', '--lint=all', '--lint-fatal', path), { code: 0 })
  t.match(await runTool('promtool', 'check', 'config', '--lint=all', '--lint-fatal', 'deploy/prometheus.yaml'), {
    code: 0,
  })
})

t.test('every alert fires for its cause and for no healthy instance', { skip: noAlertRules }, async (t) => {
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
  for (const family of families)
    t.ok(
      queries.some((query) => new RegExp(`\\b${family}(_bucket|_sum|_count)?\\b`).test(query)),
      family,
    )
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
    for (const label of list === undefined ? [] : all([legendFormat], /\{\{(\w+)\}\}/g))
      t.ok(list?.split(', ').includes(label), `${expr} keeps the label ${label}`)
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
