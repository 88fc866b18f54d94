import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { type Service, spawnService, startService } from '../scenarios/built-service.ts'
import type { Fault, FaultOptions } from './fault-options.ts'
import { idsOf } from './generated-plants.ts'
import { startLoad } from './journaled-load.ts'
import { count, isAcknowledged, isWrong, type Journal, newJournal } from './outcomes.ts'
import { inspect } from './sqlite-file.ts'

/** Upper bounds (ms) for the random duration of the load, and of a start, before a kill. */
const [longestLoad, longestStart] = [1_000, 500]

/** After kill -9 the store has every acknowledged plant and nothing that was never sent. */
export const kill: Fault = {
  title: 'kill -9 during load, on the same store each time',
  needs: [],
  async run(report, options) {
    await killRounds(report, options)
  },
}

/** Kills the service repeatedly during load; returns the journal, so that the caller can verify the store itself. */
export async function killRounds(report: Report, { directory, store, rounds, random }: FaultOptions): Promise<Journal> {
  const url = store ?? `sqlite:${join(directory, 'plants.db')}`
  const path = /^sqlite:(.+)$/.exec(url)?.[1]
  const journal = newJournal()
  const ids = idsOf(random)
  const failures = { starts: 0, answers: 0, lost: 0, phantoms: 0, broken: 0 }

  const start = () =>
    startService(url).catch((error: Error) => {
      process.stderr.write(`${error.message}\n`)
      failures.starts++
    })
  const lookInto = (file: string, acknowledged: Set<bigint>) => {
    const { lost, phantoms, intact } = inspect(file, { sent: journal.sent, acknowledged })
    failures.lost += lost
    failures.phantoms += phantoms
    if (!intact) failures.broken++
  }

  let killedStarts = 0
  let acknowledged = new Set<bigint>()
  for (let round = 0; round < rounds; round++) {
    if (random.below(4) === 0) {
      // The state after the last kill must also survive a kill during recovery.
      const starting = spawnService(url)
      await sleep(random.below(longestStart))
      await starting.kill()
      killedStarts++
    }
    const service = await start()
    if (!service) continue
    if (path === undefined) failures.lost += await countLost(service, acknowledged)
    const load = startLoad(service.port, { ids, journal })
    await sleep(random.below(longestLoad))
    await Promise.all([service.kill(), load.stop()])
    acknowledged = new Set(load.outcomes.filter(isAcknowledged).map(({ id }) => id))
    failures.answers += count(load.outcomes, isWrong)
    if (path !== undefined) lookInto(path, acknowledged)
  }
  const service = await start()
  if (path === undefined && service) failures.lost += await countLost(service, journal.acknowledged)
  if (service) await service.stop()
  if (path !== undefined) lookInto(path, journal.acknowledged)

  report.figure('kills during load', rounds)
  report.figure('kills during a start', killedStarts)
  report.notZero('acknowledged', journal.acknowledged.size)
  report.zero('starts failed', failures.starts)
  report.zero('wrong answers', failures.answers)
  report.zero('lost', failures.lost)
  // Only a file can be inspected; other stores are checked through the service.
  if (path === undefined) return journal
  report.zero('phantom', failures.phantoms)
  report.zero('integrity checks failed', failures.broken)
  return journal
}

/** Counts the lost plants: those that the service does not acknowledge when they are sent again. */
async function countLost({ port }: Service, acknowledged: Set<bigint>): Promise<number> {
  const load = startLoad(port, { ids: acknowledged })
  await load.finished
  return acknowledged.size - count(load.outcomes, isAcknowledged)
}
