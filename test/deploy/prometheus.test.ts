import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { freePort } from '../../scripts/system/free-port.ts'
import { until } from '../../scripts/system/poll.ts'
import { spawnProcess } from '../support/child-process.ts'
import { httpRequest } from '../support/http-request.ts'
import { startService } from '../support/service-process.ts'
import { numberOf } from './documented-configuration.ts'
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
