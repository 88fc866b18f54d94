import { assertWorks } from './acceptance.ts'
import { startServer, token } from './contender-process.ts'
import type { Contender } from './contenders.ts'
import { openLoad } from './http-load.ts'
import { cores } from './pinning.ts'
import { cyclingIds, growingIds } from './plant-ids.ts'

export type Figures = {
  /** Correct answers per second. */
  rate: number
  /** Microseconds of CPU per answer, of all threads of the server's processes. */
  cpu: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** Wrong answers and closed connections. */
  errors: number
  /** Average number of cores that the server's processes used. */
  busy: number
  /** Share of the time in which the main thread waited for its core. */
  waited: number
}

/** Few enough that every Map of plants has its final size after the warm-up. */
const plants = 10_000

/** Returns the ids for a contender: new ones where a plant must reach the disk. */
export const idsFor = ({ durable }: Contender): (() => number) => (durable ? growingIds() : cyclingIds(plants))

/**
 * Measures a contender in a new process, after a warm-up of half the time. Rejects when it fails the acceptance check.
 *
 * @param pinned Whether the server has a core of its own.
 */
export async function measure(
  contender: Contender,
  seconds: number,
  connections: number,
  pinned = true,
): Promise<Figures> {
  const server = await startServer(contender, { pinned })
  try {
    await assertWorks(contender.name, server.port, token)
    const polls = pinned && cores !== undefined && !contender.onLoadCore
    const load = openLoad({ port: server.port, token, connections, ids: idsFor(contender), polls })
    await load.measure(seconds / 2)
    const [cpuBefore, waitedBefore] = [server.cpu(), server.waited()]
    const { answers, errors, seconds: elapsed, p50, p99 } = await load.measure(seconds)
    const cpu = server.cpu() - cpuBefore
    const waited = server.waited() - waitedBefore
    load.close()
    return {
      rate: answers / elapsed,
      cpu: (1e6 * cpu) / answers,
      p50,
      p99,
      errors,
      busy: cpu / elapsed,
      waited: waited / elapsed,
    }
  } finally {
    await server.stop()
  }
}
