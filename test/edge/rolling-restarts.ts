import type { Report } from 'fastify-contract-test-support/scenario-report'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { token } from '../scenarios/built-service.ts'
import { startPair } from './instance-pair.ts'
import { startBalancer } from './load-balancer.ts'

const restarts = 20
/** Milliseconds in which the balancer finds a draining instance unready: five intervals of its health checks. */
const drainTime = 500

/** A rolling restart fails no request. */
export const rolling: Scenario = {
  title: `${restarts} rolling restarts of two instances behind a load balancer`,
  async run(report) {
    await restartAll(report, '', drainTime, (name, failures) => report.zero(name, failures))
    // The control: without a drain time the balancer learns too late that an instance stops.
    await restartAll(report, 'without DRAIN_TIME: ', 0, (name, failures) => report.figure(name, failures))
  },
}

async function restartAll(
  report: Report,
  prefix: string,
  drain: number,
  judge: (name: string, failures: number) => void,
): Promise<void> {
  const pair = await startPair({ DRAIN_TIME: String(drain) })
  const balancer = startBalancer(pair.instances, token, 16, 5)
  await Promise.all(pair.instances.map(balancer.seesReady))
  for (let restart = 0; restart < restarts; restart++)
    await balancer.seesReady(await pair.restart(restart % 2 === 0 ? 0 : 1))
  await balancer.stop()
  const unclean = await pair.stop()

  const { counts, failed } = balancer.tally
  report.figure(`${prefix}restarts`, restarts)
  report.notZero(`${prefix}requests answered with 200`, counts[200] ?? 0)
  for (const [status, count] of Object.entries(counts))
    if (status !== '200') report.figure(`${prefix}answers: ${status}`, count)
  report.figure(`${prefix}p99 of 200s (ms)`, balancer.tally.percentile(99))
  judge(`${prefix}requests that failed`, failed)
  judge(`${prefix}requests for which no instance was ready`, balancer.unroutable())
  report.zero(`${prefix}exit codes other than 0`, unclean)
}
