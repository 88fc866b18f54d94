import { setTimeout as sleep } from 'node:timers/promises'
import type { Postgres, StopMode } from '../../../scripts/postgres/temporary-postgres.ts'
import { killServer } from '../postgres-rows.ts'
import type { Random } from '../seeded-random.ts'
import type { Instance } from './instance-trio.ts'
import { linkFaults } from './unreliable-link.ts'

/** Upper bounds (ms): duration of a network fault, downtime of a process, and pause between two faults. */
const [longestLinkFault, longestAway, longestPause] = [2_500, 1_000, 2_000]

const stops: StopMode[] = ['fast', 'immediate', 'kill']

export type RandomFaults = {
  /** Number of occurrences of each fault. */
  counts: Map<string, number>
  /** Resolves once no fault is active and every process runs. */
  stop(): Promise<void>
}

/** Breaks networks, kills instances and restarts the database repeatedly, each kind in turn, at random moments. */
export function startFaults(server: Postgres, instances: Instance[], random: Random): RandomFaults {
  const counts = new Map<string, number>()
  let stopped = false
  const anyOf = <T>(list: T[]): T => list[random.below(list.length)] as T

  const repeat = async (faults: [string, () => Promise<unknown>][]) => {
    for (const [name] of faults) counts.set(name, 0)
    for (let turn = 0; !stopped; turn++) {
      await sleep(random.below(longestPause))
      const [name, suffer] = faults[turn % faults.length] as (typeof faults)[number]
      await suffer()
      counts.set(name, (counts.get(name) as number) + 1)
    }
  }
  const kill = () => anyOf(instances).restart(random.below(longestAway))
  const restart = async (mode: StopMode) => {
    await (mode === 'kill' ? killServer(server) : server.stop(mode))
    await sleep(random.below(longestAway))
    await server.start()
  }
  const networks = repeat(
    linkFaults.map((fault) => [
      `network: ${fault}`,
      () => anyOf(instances.flatMap(({ links }) => links)).suffer(fault, random.below(longestLinkFault)),
    ]),
  )
  const processes = repeat(
    stops.flatMap((mode) => [
      ['instance: kill -9', kill],
      [`PostgreSQL: ${mode}`, () => restart(mode)],
    ]),
  )
  return {
    counts,
    async stop() {
      stopped = true
      await Promise.all([networks, processes])
    },
  }
}
