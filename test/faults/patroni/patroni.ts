import { setTimeout as sleep } from 'node:timers/promises'
import { until } from 'fastify-contract-test-support/poll'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { median } from '../../../scripts/benchmark/statistics.ts'
import { query } from '../../../scripts/postgres/temporary-postgres.ts'
import { startService } from '../../scenarios/built-service.ts'
import type { Fault, FaultOptions } from '../fault-options.ts'
import { idsOf } from '../generated-plants.ts'
import { type Load, startLoad } from '../journaled-load.ts'
import { count, isAcknowledged, isDisconnected, longestWait, type Outcome, reportOutcomes } from '../outcomes.ts'
import { inspectRows } from '../postgres-rows.ts'
import { freezeIn, killIn, signalIn } from './directory-processes.ts'
import type { ClusterOptions, NodeLocation } from './node-configuration.ts'
import { type PatroniCluster, startCluster } from './patroni-cluster.ts'
import { installation, patroniPrograms } from './patroni-programs.ts'

/** Number of writes that must succeed on the next leader before an outage is over. */
const plantsAfter = 100

/** No acknowledged plant is lost, and the service finds every new leader and never writes to the frozen one. */
export const patroni: Fault = {
  title: 'three nodes under Patroni: kill -9 of the leader and its Patroni, switchovers, a frozen leader',
  needs: [],
  async run(report, options) {
    const programs = patroniPrograms()
    if (programs === undefined) return report.notRun(`Patroni, etcd and PostgreSQL; "${installation}" installs them`)
    const { directory } = options
    await withCluster(directory, { programs, synchronous: true }, (cluster) => run(report, options, cluster))
  },
}

async function withCluster<Result>(
  directory: string,
  options: ClusterOptions,
  use: (cluster: PatroniCluster) => Promise<Result>,
): Promise<Result> {
  const cluster = await startCluster(directory, options)
  try {
    return await use(cluster)
  } finally {
    await cluster.close()
  }
}

/** Deposes the leader; resolves with a function that brings its node back. */
type Outage = (cluster: PatroniCluster, leader: NodeLocation, candidate: NodeLocation) => Promise<() => void>

const outagesByName = {
  async kill(cluster, leader) {
    await killIn(leader.directory)
    return () => cluster.start(leader)
  },
  async switchover(cluster, leader, candidate) {
    await cluster.switchOver(leader, candidate)
    return () => {}
  },
  async freeze(_, leader) {
    freezeIn(leader.directory)
    return () => void signalIn(leader.directory, 'SIGCONT')
  },
} satisfies Record<string, Outage>

async function run(report: Report, { outages, random }: FaultOptions, cluster: PatroniCluster): Promise<void> {
  await cluster.whole()
  const service = await startService(cluster.url)
  // No repeated ids: sending a plant again would hide its loss.
  const load = startLoad(service.port, { ids: idsOf(random, 0), connections: 16 })
  for (const [name, outage] of Object.entries<Outage>(outagesByName)) {
    const gaps: number[] = []
    for (let round = 0; round < outages; round++) {
      const { leader, candidate } = await cluster.whole()
      // Outages start at random moments of the load.
      await sleep(500 + random.below(1_000))
      gaps.push(await longestGap(load, () => outage(cluster, leader, candidate)))
    }
    report.figure(`${name}: longest times without a 200 (ms)`, gaps.toSorted((one, other) => one - other).join(' '))
    report.figure(`${name}: median (ms)`, median(gaps))
  }
  await cluster.whole()
  await sleep(1_000)
  await load.stop()
  const { code } = await service.stop()
  const { lost, phantoms } = await inspectLeader(cluster, load)

  report.figure('outages of each kind', outages)
  reportOutcomes(report, load.outcomes)
  report.zero('failed connections', count(load.outcomes, isDisconnected))
  report.figure('longest wait for a response (ms)', longestWait(load.outcomes))
  report.zero('exit code', code ?? -1)
  report.notZero('acknowledged', load.journal.acknowledged.size)
  report.zero('lost', lost)
  report.zero('phantom', phantoms)
}

async function inspectLeader(cluster: PatroniCluster, { journal }: Load) {
  const { leader } = await cluster.whole()
  const url = `postgres://postgres@127.0.0.1:${leader.port}/postgres`
  return await inspectRows({ query: (sql) => query(url, sql) }, journal)
}

/** Causes an outage and ends it once writes succeed again; returns the longest time (ms) between two successes. */
async function longestGap(load: Load, cause: () => Promise<() => void>): Promise<number> {
  const [begun, before] = [Date.now(), load.outcomes.length]
  const end = await cause()
  const down = Date.now()
  const isAfter = (outcome: Outcome) => isAcknowledged(outcome) && outcome.sentAt > down
  const since = () => load.outcomes.slice(before)
  await until(() => count(since(), isAfter) >= plantsAfter, 'creates to succeed again', 300_000)
  const taken = since().filter(isAcknowledged)
  end()
  const times = [begun, ...taken.map(({ endedAt }) => endedAt)]
  return times.reduce((longest, time, index) => Math.max(longest, time - (times[index - 1] ?? time)), 0)
}
