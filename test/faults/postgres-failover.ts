import { setTimeout as sleep } from 'node:timers/promises'
import { holdsWithin } from 'fastify-contract-test-support/poll'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { median } from '../../scripts/benchmark/statistics.ts'
import { startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { startService } from '../scenarios/built-service.ts'
import type { Fault, FaultOptions } from './fault-options.ts'
import { idsOf } from './generated-plants.ts'
import { startLoad } from './journaled-load.ts'
import { count, isAcknowledged, isDisconnected, isUnavailable, isWrong, longestWait, type Outcome } from './outcomes.ts'
import { inspectRows, killServer, pairUrl } from './postgres-rows.ts'
import type { Random } from './seeded-random.ts'

/** Number of writes that must succeed on the standby before the load ends. */
const plantsAfter = 100

/** The synchronous standby has every acknowledged plant, and the service connects to it once it is promoted. */
export const postgresFailover: Fault = {
  title: 'kill -9 of the primary during load, then promotion of its synchronous standby',
  needs: [],
  run,
}

async function run(report: Report, { outages, random }: FaultOptions): Promise<void> {
  const rounds: Round[] = []
  for (let round = 0; round < outages; round++) rounds.push(await failOver(random))

  const total = (figure: keyof Round) => rounds.reduce((sum, round) => sum + round[figure], 0)
  const times = (figure: keyof Round) => {
    const values = rounds.map((round) => round[figure])
    return `${median(values)}, ${Math.max(...values)}`
  }
  report.figure('failovers', outages)
  report.figure('from kill to first 503 (median, max ms)', times('refused'))
  report.figure('from kill to promoted (median, max ms)', times('promoted'))
  report.figure('from promoted to first 200 (median, max ms)', times('takenAfter'))
  report.figure('from kill to first 200 (median, max ms)', times('taken'))
  report.figure('longest wait for a response (median, max ms)', times('slowest'))
  report.zero('wrong answers', total('wrong'))
  report.zero('failed connections', total('failed'))
  report.zero('services without a 200 after the failover', total('stuck'))
  report.zero('services that failed', total('ended'))
  report.notZero('acknowledged', total('acknowledged'))
  report.zero('lost', total('lost'))
  report.zero('phantom', total('phantoms'))
}

type Round = Awaited<ReturnType<typeof failOver>>

/** Runs one failover; times are milliseconds since the kill. */
async function failOver(random: Random) {
  const primary = await startPostgres()
  const standby = await primary.standby({ synchronous: true })
  const service = await startService(pairUrl(primary, standby))
  const load = startLoad(service.port, { ids: idsOf(random) })
  // The kill comes at a random moment of the load.
  await sleep(500 + random.below(1_000))

  const killed = Date.now()
  await killServer(primary)
  const down = Date.now()
  await standby.promote()
  const promoted = Date.now() - killed
  const isAfter = (outcome: Outcome) => isAcknowledged(outcome) && outcome.sentAt > down
  await holdsWithin(60_000, () => count(load.outcomes, isAfter) >= plantsAfter)
  await load.stop()
  const { code } = await service.stop()
  const { lost, phantoms } = await inspectRows(standby, load.journal)
  await Promise.all([primary.close(), standby.close()])

  const refused = load.outcomes.find((outcome) => isUnavailable(outcome) && outcome.endedAt > killed)
  const taken = load.outcomes.find(isAfter)
  const since = (outcome: Outcome | undefined) => (outcome?.endedAt ?? Number.POSITIVE_INFINITY) - killed
  return {
    acknowledged: load.journal.acknowledged.size,
    promoted,
    refused: since(refused),
    taken: since(taken),
    // The server accepts writes slightly before the promoting call returns.
    takenAfter: Math.max(0, since(taken) - promoted),
    slowest: longestWait(load.outcomes),
    wrong: count(load.outcomes, isWrong),
    failed: count(load.outcomes, isDisconnected),
    stuck: taken === undefined ? 1 : 0,
    ended: code === 0 ? 0 : 1,
    lost,
    phantoms,
  }
}
