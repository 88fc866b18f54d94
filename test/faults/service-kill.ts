import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Service, spawnService, startService } from '../scenarios/built-service.ts'
import type { Report } from '../scenarios/scenario-report.ts'
import type { Scenario, ScenarioOptions } from '../scenarios/scenario-runner.ts'
import { idsOf } from './generated-plants.ts'
import { isWrong, type Journal, newJournal, startLoad } from './journaled-load.ts'
import { inspect } from './sqlite-file.ts'

/** Milliseconds of load before a kill, and of a start before a kill, at most. */
const [longestLoad, longestStart] = [1_000, 500]

/** Every plant that was answered with 200 must be there after a kill -9, and nothing that was not sent. */
export const kill: Scenario = {
  title: 'kill -9 during load, on the same store each time',
  needs: [],
  async run(report, options) {
    await killRounds(report, options)
  },
}

/** Gives what was sent and acknowledged, for a look at the store itself. */
export async function killRounds(
  report: Report,
  { directory, storeUrl, rounds, random }: ScenarioOptions,
): Promise<Journal> {
  const url = storeUrl ?? `sqlite:${join(directory, 'plants.db')}`
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
      // What the last kill left must survive the next one, too.
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
    acknowledged = new Set(load.outcomes.filter(({ status }) => status === 200).map(({ id }) => id))
    failures.answers += load.outcomes.filter(isWrong).length
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
  // Only a file can be looked into; other stores are asked through the service.
  if (path === undefined) return journal
  report.zero('phantom', failures.phantoms)
  report.zero('integrity checks failed', failures.broken)
  return journal
}

/** A plant that is kept is acknowledged again; anything else is a loss. */
async function countLost({ port }: Service, acknowledged: Set<bigint>): Promise<number> {
  const load = startLoad(port, { ids: acknowledged })
  await load.finished
  return load.outcomes.filter(({ status }) => status !== 200).length
}
