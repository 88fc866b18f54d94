import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { startService } from '../scenarios/built-service.ts'
import type { Report } from '../scenarios/scenario-report.ts'
import type { Scenario, ScenarioOptions } from '../scenarios/scenario-runner.ts'
import { until } from '../support/wait-until.ts'
import { idsOf } from './generated-plants.ts'
import { isWrong, newJournal, type Outcome, startLoad } from './journaled-load.ts'
import { crash, inspectRows, pairUrl } from './postgres-rows.ts'
import type { Random } from './seeded-random.ts'

/** What was acknowledged is on the synchronous standby, and the service finds it once it takes writes. */
export const postgresFailover: Scenario = {
  title: 'kill -9 of the primary during load, and its synchronous standby is promoted',
  needs: [],
  run,
}

async function run(report: Report, { outages, random }: ScenarioOptions): Promise<void> {
  const rounds: Round[] = []
  for (let round = 0; round < outages; round++) rounds.push(await failOver(random))

  const total = (figure: keyof Round) => rounds.reduce((sum, round) => sum + round[figure], 0)
  const times = (figure: keyof Round) => {
    const sorted = rounds.map((round) => round[figure]).sort((one, other) => one - other)
    return `${sorted[sorted.length >> 1]}, ${sorted.at(-1)}`
  }
  report.figure('failovers', outages)
  report.figure('from kill to first 503 (median, max ms)', times('refused'))
  report.figure('from kill to promoted (median, max ms)', times('promoted'))
  report.figure('from promoted to first 200 (median, max ms)', times('takenAfter'))
  report.figure('from kill to first 200 (median, max ms)', times('taken'))
  report.figure('longest wait for an answer (median, max ms)', times('slowest'))
  report.zero('wrong answers', total('wrong'))
  report.zero('failed connections', total('failed'))
  report.zero('services that took nothing afterwards', total('stuck'))
  report.zero('services that failed', total('ended'))
  report.notZero('acknowledged', total('acknowledged'))
  report.zero('lost', total('lost'))
  report.zero('phantom', total('phantoms'))
}

type Round = Awaited<ReturnType<typeof failOver>>

/** Times are milliseconds since the kill. */
async function failOver(random: Random) {
  const primary = await startPostgres()
  const standby = await primary.standby({ synchronous: true })
  const service = await startService(pairUrl(primary, standby))
  const journal = newJournal()
  const load = startLoad(service.port, { ids: idsOf(random), journal })
  await sleep(500 + random.below(1_000))

  const killed = Date.now()
  await crash(primary)
  const down = Date.now()
  await standby.promote()
  const promoted = Date.now() - killed
  const taken = () => load.outcomes.find(({ status, sentAt }) => status === 200 && sentAt > down)
  await until(() => taken() !== undefined)
  await sleep(500)
  await load.stop()
  const { code } = await service.stop()
  const { lost, phantoms } = await inspectRows(standby, journal)
  await Promise.all([primary.close(), standby.close()])

  const refused = load.outcomes.find(({ status, endedAt }) => status === 503 && endedAt > killed)
  const since = (outcome: Outcome | undefined) => (outcome?.endedAt ?? Number.POSITIVE_INFINITY) - killed
  return {
    acknowledged: journal.acknowledged.size,
    promoted,
    refused: since(refused),
    taken: since(taken()),
    // The server takes writes a little before the call that promotes it returns.
    takenAfter: Math.max(0, since(taken()) - promoted),
    slowest: load.outcomes.reduce((most, { sentAt, endedAt }) => Math.max(most, endedAt - sentAt), 0),
    wrong: load.outcomes.filter(isWrong).length,
    failed: load.outcomes.filter(({ status }) => typeof status === 'string').length,
    stuck: taken() === undefined ? 1 : 0,
    ended: code === 0 ? 0 : 1,
    lost,
    phantoms,
  }
}
