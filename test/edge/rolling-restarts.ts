import { freePort } from '../../scripts/system/free-port.ts'
import { startService, token } from '../scenarios/built-service.ts'
import type { Report } from '../scenarios/scenario-report.ts'
import type { Scenario } from '../scenarios/scenario-runner.ts'
import { type Instance, startBalancer } from './load-balancer.ts'

const restarts = 20
/** Milliseconds: five health checks of the balancer. */
const drainTime = 500

/** A rolling restart loses no request. */
export const rolling: Scenario = {
  title: `${restarts} rolling restarts of two instances behind a load balancer`,
  async run(report) {
    await restartAll(report, '', drainTime, (name, failures) => report.zero(name, failures))
    // The control: without a drain time the balancer cannot know.
    await restartAll(report, 'without DRAIN_TIME: ', 0, (name, failures) => report.figure(name, failures))
  },
}

async function restartAll(
  report: Report,
  prefix: string,
  drain: number,
  judge: (name: string, failures: number) => void,
): Promise<void> {
  const newInstance = async (): Promise<Instance> => ({ port: await freePort(), managementPort: await freePort() })
  const instances = [await newInstance(), await newInstance()]
  const start = ({ port, managementPort }: Instance) =>
    startService('memory:', {
      environment: { PORT: String(port), MANAGEMENT_PORT: String(managementPort), DRAIN_TIME: String(drain) },
    })
  const services = await Promise.all(instances.map(start))
  const balancer = startBalancer(instances, token, 16, 5)
  await Promise.all(instances.map(balancer.seesReady))
  let unclean = 0
  for (let restart = 0; restart < restarts; restart++) {
    const which = restart % 2
    const instance = instances[which] as Instance
    const { code } = (await services[which]?.stop()) ?? {}
    if (code !== 0) unclean++
    services[which] = await start(instance)
    await balancer.seesReady(instance)
  }
  await balancer.stop()
  for (const service of services) await service.stop()

  const { counts, failed } = balancer.tally
  report.figure(`${prefix}restarts`, restarts)
  report.notZero(`${prefix}requests answered with 200`, counts[200] ?? 0)
  for (const [status, count] of Object.entries(counts)) {
    if (status !== '200') report.figure(`${prefix}answers: ${status}`, count)
  }
  report.figure(`${prefix}p99 of 200s (ms)`, balancer.tally.percentile(99))
  judge(`${prefix}requests that failed`, failed)
  judge(`${prefix}requests for which no instance was ready`, balancer.unroutable())
  report.zero(`${prefix}exit codes other than 0`, unclean)
}
