import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startService, token } from '../scenarios/built-service.ts'
import type { Report } from '../scenarios/scenario-report.ts'
import { type Instance, startBalancer } from './load-balancer.ts'
import type { Scenario } from './scenario.ts'

const restarts = 20
/** Milliseconds: five looks of the balancer. */
const drainTime = 500

/** A deploy loses no request. */
export const rolling: Scenario = {
  title: `${restarts} rolling restarts of two instances behind a load balancer`,
  async run(report) {
    await restartAll(report, '', drainTime, (name, failures) => report.zero(name, failures))
    // The control: without the time to drain, a balancer cannot know.
    await restartAll(report, 'without DRAIN_TIME: ', 0, (name, failures) => report.figure(name, failures))
  },
}

async function restartAll(
  report: Report,
  prefix: string,
  drain: number,
  judge: (name: string, failures: number) => void,
): Promise<void> {
  const ports = await freePorts(4)
  const instances = [0, 2].map(
    (at): Instance => ({ port: ports[at] as number, managementPort: ports[at + 1] as number }),
  )
  const start = ({ port, managementPort }: Instance) =>
    startService('memory:', {
      environment: { PORT: String(port), MANAGEMENT_PORT: String(managementPort), DRAIN_TIME: String(drain) },
    })
  const services = await Promise.all(instances.map(start))
  const balancer = startBalancer(instances, token, 16, 5)
  await Promise.all(instances.map(balancer.seen))
  let unclean = 0
  for (let restart = 0; restart < restarts; restart++) {
    const which = restart % 2
    const instance = instances[which] as Instance
    const { code } = (await services[which]?.stop()) ?? {}
    if (code !== 0) unclean++
    services[which] = await start(instance)
    // A look that was under way when the old one ended has been taken for the new one's.
    await sleep(200)
    await balancer.seen(instance)
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
  judge(`${prefix}requests for which no instance was ready`, balancer.nowhere())
  report.zero(`${prefix}exit codes other than 0`, unclean)
}

/** Ports that nobody listens on now: an instance comes back where it was. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
