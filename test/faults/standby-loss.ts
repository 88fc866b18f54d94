import { setTimeout as sleep } from 'node:timers/promises'
import { type Postgres, startPostgres } from '../../scripts/postgres/temporary-postgres.ts'
import { startService } from '../scenarios/built-service.ts'
import { idsOf } from './generated-plants.ts'
import { startLoad } from './journaled-load.ts'
import { isAcknowledged, newJournal, type Outcome } from './outcomes.ts'
import { inspectRows, killServer, pairUrl } from './postgres-rows.ts'
import type { Random } from './seeded-random.ts'

/** Ends all current waits of commits for the standby. */
export type Interrupt = (primary: Postgres) => Promise<unknown>

export type Away = {
  /** Default: none; each wait then lasts until the service times out. */
  interrupt?: Interrupt | undefined
  /** Directory of the project whose build runs; default: this one. */
  project?: string
}

/** Number of plants created before the standby stops, and while it is away: few enough to interrupt each wait. */
const [plantsBefore, plantsAway] = [500, 40]

/** Milliseconds of load with interruptions, and between two interruptions. */
const [interrupted, pause] = [5_000, 300]

/**
 * Creates plants while the only synchronous standby is away and waits are interrupted. Creates the same plants again
 * without interruptions, then kills the primary and promotes the standby. Returns all outcomes and the state of the
 * standby.
 */
export async function loseStandby(random: Random, { interrupt, project = '.' }: Away) {
  const primary = await startPostgres()
  const standby = await primary.standby({ synchronous: true })
  const service = await startService(pairUrl(primary, standby), { project })
  const journal = newJournal()
  const ids = idsOf(random, 0)
  const take = (count: number) => Array.from({ length: count }, () => ids.next().value as bigint)
  const ask = async (asked: bigint[]) => {
    const load = startLoad(service.port, { ids: asked, journal })
    await load.finished
    return load.outcomes
  }
  const before = await ask(take(plantsBefore))
  await standby.stop('fast')

  const asked = take(plantsAway)
  const load = startLoad(service.port, { ids: interrupt ? again(asked) : asked, journal })
  let waits = 0
  for (const end = Date.now() + interrupted; interrupt && Date.now() < end; ) {
    await sleep(pause)
    waits += await countWaiting(primary)
    await interrupt(primary)
  }
  await (interrupt ? load.stop() : load.finished)
  const undisturbed = await ask(asked)
  const kept = await primary.query('SELECT FROM plants WHERE id = ANY ($1::bigint[])', [asked])
  const left = await countWaiting(primary)

  await killServer(primary)
  await standby.start()
  await standby.promote()
  const { lost, phantoms } = await inspectRows(standby, journal)
  const refused = await askUntilTaken(ask, asked)
  const { code } = await service.stop()
  await Promise.all([primary.close(), standby.close()])
  const away = [...load.outcomes, ...undisturbed]
  return { before, away, waits, kept: kept.length, left, lost, phantoms, refused, code }
}

function* again(ids: bigint[]): Generator<bigint> {
  for (;;) yield* ids
}

/** Counts the backends that wait for the standby, including those of disconnected clients. */
async function countWaiting(primary: Postgres): Promise<number> {
  return (await primary.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).length
}

/** Retries rejected plants for ten seconds; returns the number that is still rejected. */
async function askUntilTaken(ask: (ids: bigint[]) => Promise<Outcome[]>, ids: bigint[]): Promise<number> {
  let refused = ids
  for (const end = Date.now() + 10_000; refused.length > 0 && Date.now() < end; ) {
    refused = (await ask(refused)).filter((outcome) => !isAcknowledged(outcome)).map(({ id }) => id)
  }
  return refused.length
}
