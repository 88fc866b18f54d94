import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../support/postgres.ts'
import { isWrong, newJournal, startLoad } from './load.ts'
import { idsOf } from './plants.ts'
import { crash, inspectRows, pairUrl } from './postgres-server.ts'
import type { Random } from './random.ts'
import type { Report } from './report.ts'
import type { Scenario, ScenarioOptions } from './scenario.ts'
import { startService } from './service.ts'
import { until } from './until.ts'

/** What was acknowledged is on the synchronous standby, and the service finds it once it takes writes. */
export const postgresFailover: Scenario = {
  title: 'kill -9 of the primary during load, and its synchronous standby is promoted',
  needs: [],
  run,
}

async function run(report: Report, { outages, random }: ScenarioOptions): Promise<void> {
  const rounds: Round[] = []
  for (let round = 0; round < outages; round++) rounds.push(await failOver(random))

  const sum = (of: (round: Round) => number) => rounds.reduce((total, round) => total + of(round), 0)
  const times = (of: (round: Round) => number) => {
    const sorted = rounds.map(of).sort((a, b) => a - b)
    return `${sorted[sorted.length >> 1]}, ${sorted.at(-1)}`
  }
  report.figure('failovers', outages)
  report.figure(
    'acknowledged',
    sum(({ acknowledged }) => acknowledged),
  )
  report.figure(
    'from kill to first 503 (median, max ms)',
    times(({ refused }) => refused),
  )
  report.figure(
    'from kill to promoted (median, max ms)',
    times(({ promoted }) => promoted),
  )
  report.figure(
    'from promoted to first 200 (median, max ms)',
    times(({ promoted, taken }) => Math.max(0, taken - promoted)),
  )
  report.figure(
    'from kill to first 200 (median, max ms)',
    times(({ taken }) => taken),
  )
  report.figure(
    'longest wait for an answer (median, max ms)',
    times(({ slowest }) => slowest),
  )
  report.zero(
    'wrong answers',
    sum(({ wrong }) => wrong),
  )
  report.zero(
    'failed connections',
    sum(({ failed }) => failed),
  )
  report.zero(
    'service ended by itself',
    sum(({ code }) => (code === 0 ? 0 : 1)),
  )
  report.zero(
    'lost',
    sum(({ lost }) => lost),
  )
  report.zero(
    'phantom',
    sum(({ phantoms }) => phantoms),
  )
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
  const first = (wanted: number) =>
    load.outcomes.find(({ status, sentAt, endedAt }) => status === wanted && (wanted === 200 ? sentAt : endedAt) > down)
  await until(() => first(200) !== undefined)
  await sleep(500)
  await load.stop()
  const { code } = await service.stop()
  const { lost, phantoms } = await inspectRows(standby, journal)
  await Promise.all([primary.close(), standby.close()])

  const since = (wanted: number) => (first(wanted)?.endedAt ?? Number.POSITIVE_INFINITY) - killed
  return {
    acknowledged: journal.acknowledged.size,
    promoted,
    refused: since(503),
    taken: since(200),
    slowest: load.outcomes.reduce((most, { sentAt, endedAt }) => Math.max(most, endedAt - sentAt), 0),
    wrong: load.outcomes.filter(isWrong).length,
    failed: load.outcomes.filter(({ status }) => typeof status === 'string').length,
    code,
    lost,
    phantoms,
  }
}
