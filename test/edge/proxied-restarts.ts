import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { token } from '../scenarios/built-service.ts'
import { startClosedLoad } from './closed-loop.ts'
import { startPair } from './instance-pair.ts'
import { startOpenLoad } from './open-loop.ts'
import type { Load } from './response-tally.ts'
import { haproxy, nginx, type StartProxy } from './reverse-proxy.ts'

const restarts = 20
/** Number of client connections, and requests per second of the load that does not saturate. */
const [clients, rate] = [48, 400]
/** Milliseconds in which HAProxy finds a draining instance unready: three intervals of its health checks. */
const drainTime = 1_500
/** Milliseconds in which HAProxy finds a started instance healthy: three intervals of its health checks. */
const settling = 1_500

const steady = (port: number) => startOpenLoad({ port, token, rate, connections: clients })
const saturating = (port: number) => startClosedLoad({ port, token, clients, refused: 'again' })

type Case = { name: string; start: StartProxy; load: (port: number) => Load }

const cases: Case[] = [
  { name: 'nginx without retries', start: nginx(false), load: steady },
  { name: 'nginx', start: nginx(true), load: steady },
  { name: 'nginx, saturated', start: nginx(true), load: saturating },
  { name: 'haproxy', start: haproxy, load: steady },
  { name: 'haproxy, saturated', start: haproxy, load: saturating },
]

/** A rolling restart behind a real proxy fails no request. */
export const proxies: Scenario = {
  title: `${restarts} rolling restarts of two instances behind nginx and HAProxy`,
  needs: ['nginx', 'haproxy'],
  async run(report, { directory }) {
    for (const [index, one] of cases.entries()) {
      const own = join(directory, String(index))
      mkdirSync(own)
      await restartAll(report, one, own)
    }
  },
}

async function restartAll(report: Report, { name, start, load }: Case, directory: string): Promise<void> {
  // Two processes cannot share the memory store; this store keeps nothing.
  const storeUrl = 'memory:'
  const pair = await startPair({ DRAIN_TIME: String(drainTime) }, storeUrl)
  const proxy = await start(pair.instances, directory)
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
  report.zero(`${name}: requests that failed`, failed)
  report.zero(`${name}: exit codes other than 0`, unclean)
}
