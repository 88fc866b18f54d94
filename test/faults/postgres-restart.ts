import { setTimeout as sleep } from 'node:timers/promises'
import { type Postgres, startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { startService } from '../scenarios/built-service.ts'
import type { Report } from '../scenarios/scenario-report.ts'
import type { Scenario, ScenarioOptions } from '../scenarios/scenario-runner.ts'
import { until } from '../support/wait-until.ts'
import { idsOf } from './generated-plants.ts'
import { countOutcomes, isWrong, newJournal, startLoad } from './journaled-load.ts'
import { crash, inspectRows } from './postgres-rows.ts'

/** Milliseconds in which the service must take creates again. */
const longestRecovery = 5_000

const ways: [string, (server: Postgres) => Promise<void>][] = [
  ['fast', (server) => server.stop('fast')],
  ['immediate', (server) => server.stop('immediate')],
  ['kill -9', crash],
]

/** While its server is away the service says so at once; it loses nothing, and needs no restart. */
export const postgresRestart: Scenario = {
  title: 'PostgreSQL stops during load and starts again, in each way in turn',
  needs: [],
  run,
}

async function run(report: Report, { outages, random }: ScenarioOptions): Promise<void> {
  const server = await startPostgres()
  const service = await startService(server.url())
  const journal = newJournal()
  const load = startLoad(service.port, { ids: idsOf(random), journal })
  const recoveries = new Map<string, number[]>(ways.map(([name]) => [name, []]))
  let takenWhileAway = 0
  let refusedWhileAway = 0

  for (let outage = 0; outage < outages; outage++) {
    const [name, stop] = ways[outage % ways.length] as (typeof ways)[number]
    await sleep(1_000)
    await stop(server)
    const [down, before] = [Date.now(), load.outcomes.length]
    await sleep(1_000 + random.below(3_000))
    const away = load.outcomes.slice(before).filter(({ sentAt }) => sentAt > down)
    takenWhileAway += away.filter(({ status }) => status === 200).length
    refusedWhileAway += away.filter(({ status }) => status === 503).length
    await server.start()
    const [up, after] = [Date.now(), load.outcomes.length]
    const first = () => load.outcomes.slice(after).find(({ status }) => status === 200)
    await until(() => first() !== undefined)
    recoveries.get(name)?.push((first()?.endedAt ?? Number.POSITIVE_INFINITY) - up)
  }
  await sleep(1_000)
  await load.stop()
  const { code } = await service.stop()
  const { lost, phantoms } = await inspectRows(server, journal)
  await server.close()

  report.figure('outages', outages)
  for (const [status, count] of Object.entries(countOutcomes(load.outcomes))) report.figure(`answers: ${status}`, count)
  report.notZero('503 while it was away', refusedWhileAway)
  report.zero('200 while it was away', takenWhileAway)
  report.zero('wrong answers', load.outcomes.filter(isWrong).length)
  report.zero('failed connections', load.outcomes.filter(({ status }) => typeof status === 'string').length)
  report.figure(
    'longest wait for an answer (ms)',
    longest(load.outcomes.map(({ sentAt, endedAt }) => endedAt - sentAt)),
  )
  for (const [name, times] of recoveries) report.figure(`longest from up to a 200, ${name} (ms)`, longest(times))
  const slow = [...recoveries.values()].flat().filter((time) => time > longestRecovery)
  report.zero(`longer than ${longestRecovery} ms`, slow.length)
  report.zero('exit code', code ?? -1)
  report.notZero('acknowledged', journal.acknowledged.size)
  report.zero('lost', lost)
  report.zero('phantom', phantoms)
}

const longest = (times: number[]): number => times.reduce((most, time) => Math.max(most, time), 0)
