import { setTimeout as sleep } from 'node:timers/promises'
import { holdsWithin } from 'fastify-contract-test-support/poll'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { type Postgres, startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { startService } from '../scenarios/built-service.ts'
import type { Fault, FaultOptions } from './fault-options.ts'
import { idsOf } from './generated-plants.ts'
import { startLoad } from './journaled-load.ts'
import { count, isAcknowledged, isDisconnected, isUnavailable, longestWait, reportOutcomes } from './outcomes.ts'
import { inspectRows, killServer } from './postgres-rows.ts'

/** Maximum time (ms) from the restart of the server to the first successful create. */
const longestRecovery = 5_000

/** Milliseconds of load while the server is up, and the minimum while it is down. */
const [upTime, awayTime] = [1_000, 1_000]

const ways: [string, (server: Postgres) => Promise<void>][] = [
  ['fast', (server) => server.stop('fast')],
  ['immediate', (server) => server.stop('immediate')],
  ['kill -9', killServer],
]

/** While PostgreSQL is down the service responds with 503 immediately; it loses nothing and needs no restart. */
export const postgresRestart: Fault = {
  title: 'PostgreSQL stops during load and restarts: fast, immediate and kill -9 in turn',
  needs: [],
  run,
}

async function run(report: Report, { outages, random }: FaultOptions): Promise<void> {
  const server = await startPostgres()
  const service = await startService(server.url())
  const load = startLoad(service.port, { ids: idsOf(random) })
  const recoveries = new Map<string, number[]>(ways.map(([name]) => [name, []]))
  let takenWhileAway = 0
  let refusedWhileAway = 0

  for (let outage = 0; outage < outages; outage++) {
    const [name, stop] = ways[outage % ways.length] as (typeof ways)[number]
    await sleep(upTime)
    await stop(server)
    const [down, before] = [Date.now(), load.outcomes.length]
    await sleep(awayTime + random.below(3_000))
    const away = load.outcomes.slice(before).filter(({ sentAt }) => sentAt > down)
    takenWhileAway += count(away, isAcknowledged)
    refusedWhileAway += count(away, isUnavailable)
    await server.start()
    const [up, after] = [Date.now(), load.outcomes.length]
    const first = () => load.outcomes.slice(after).find(isAcknowledged)
    await holdsWithin(60_000, () => first() !== undefined)
    recoveries.get(name)?.push((first()?.endedAt ?? Number.POSITIVE_INFINITY) - up)
  }
  await sleep(upTime)
  await load.stop()
  const { code } = await service.stop()
  const { lost, phantoms } = await inspectRows(server, load.journal)
  await server.close()

  report.figure('outages', outages)
  reportOutcomes(report, load.outcomes)
  report.notZero('503 while PostgreSQL was down', refusedWhileAway)
  report.zero('200 while PostgreSQL was down', takenWhileAway)
  report.zero('failed connections', count(load.outcomes, isDisconnected))
  report.figure('longest wait for a response (ms)', longestWait(load.outcomes))
  for (const [name, times] of recoveries) report.figure(`longest recovery, ${name} (ms)`, Math.max(0, ...times))
  const slow = [...recoveries.values()].flat().filter((time) => time > longestRecovery)
  report.zero(`recoveries longer than ${longestRecovery} ms`, slow.length)
  report.zero('exit code', code ?? -1)
  report.notZero('acknowledged', load.journal.acknowledged.size)
  report.zero('lost', lost)
  report.zero('phantom', phantoms)
}
