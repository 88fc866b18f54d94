import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { token } from '../scenarios/built-service.ts'
import { startClosedLoad } from './closed-loop.ts'
import { startPair } from './instance-pair.ts'
import { startOpenLoad } from './open-loop.ts'
import { proxies as allProxies, type ProxyProgram, start } from './proxies/proxies.ts'
import type { Load } from './response-tally.ts'

const restarts = 20
/** Number of client connections, and requests per second of the load that does not saturate. */
const [clients, rate] = [48, 400]
/** Milliseconds in which health checks find a draining instance unready: three intervals of its health checks. */
const drainTime = 1_500
/** Milliseconds in which health checks find a started instance healthy: three intervals of its health checks. */
const settling = 1_500

const steady = (port: number) => startOpenLoad({ port, token, rate, connections: clients })
const saturating = (port: number) => startClosedLoad({ port, token, clients, refused: 'again' })

type Case = { name: string; proxy: ProxyProgram; load: (port: number) => Load; edit?: (text: string) => string }

/** Removes the retries of a POST after a broken connection, which nginx does not make by default. */
const withoutRetries = (text: string) => {
  const edited = text.replace(/^ *proxy_next_upstream .*\n/m, '')
  if (edited === text) throw new Error('the configuration of nginx lacks proxy_next_upstream; adapt the test to it')
  return edited
}

const [nginx, haproxy, ...others] = allProxies as [ProxyProgram, ProxyProgram, ...ProxyProgram[]]

const cases: Case[] = [
  { name: 'nginx without retries', proxy: nginx, load: steady, edit: withoutRetries },
  { name: 'nginx, saturated', proxy: nginx, load: saturating },
  { name: 'HAProxy, saturated', proxy: haproxy, load: saturating },
  ...[nginx, haproxy, ...others].map((proxy) => ({ name: proxy.name, proxy, load: steady })),
]

/** Proxies behind which some requests fail, since these do not repeat a POST on a connection that closes. */
const losing = ['Apache', 'Caddy 2.6', 'Varnish']

/** A rolling restart behind a real proxy fails no request, unless the page says so. */
export const proxies: Scenario = {
  title: `${restarts} rolling restarts of two instances behind each proxy, with its configuration of docs/proxies.md`,
  async run(report, { directory }) {
    chmodSync(directory, 0o755)
    for (const [index, one] of cases.entries()) {
      const program = await one.proxy.program(directory)
      const own = join(directory, String(index))
      mkdirSync(own)
      if (program === undefined) report.notRun(one.name)
      else await restartAll(report, one, { program, directory: own })
    }
  },
}

async function restartAll(
  report: Report,
  { name, proxy: given, load, edit }: Case,
  place: { program: string; directory: string },
): Promise<void> {
  // Two processes cannot share the memory store; this store keeps nothing.
  const storeUrl = 'memory:'
  const pair = await startPair({ DRAIN_TIME: String(drainTime) }, storeUrl)
  const kind = 'recommended'
  const { instances } = pair
  const proxy = await start(given, { ...place, kind, instances, ...(edit !== undefined && { edit }) })
  await sleep(settling)
  const running = load(proxy.port)
  for (let restart = 0; restart < restarts; restart++) {
    await pair.restart(restart % 2 === 0 ? 0 : 1)
    await sleep(settling)
  }
  await running.stop()
  await proxy.stop()
  const unclean = await pair.stop()

  const { counts, failed } = running.tally
  report.notZero(`${name}: requests answered with 200`, counts[200] ?? 0)
  for (const [status, count] of Object.entries(counts))
    if (status !== '200') report.figure(`${name}: answers: ${status}`, count)
  report.figure(`${name}: p99 of 200s (ms)`, running.tally.percentile(99))
  if (losing.includes(name)) report.figure(`${name}: requests that failed`, failed)
  else report.zero(`${name}: requests that failed`, failed)
  report.zero(`${name}: exit codes other than 0`, unclean)
}
