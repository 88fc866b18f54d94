import { assertWorks } from './acceptance.ts'
import { startServer, token } from './contender-process.ts'
import type { Contender } from './contenders.ts'
import { openLoad } from './http-load.ts'
import { cores } from './pinning.ts'
import { cyclingIds, growingIds } from './plant-ids.ts'

export type Figures = {
  /** Right answers in a second. */
  rate: number
  /** Microseconds of CPU that the server's processes used for each of them, all their threads together. */
  cpu: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** Wrong answers, and connections that ended. */
  errors: number
  /** Cores that the server's processes used on average. */
  busy: number
  /** The share of the time in which its main thread waited for the core. */
  waited: number
}

/** Enough for every Map that keeps them to be of its final size when the measuring begins. */
const plants = 10_000

/** The ids that a contender is sent: new ones where a plant must reach the disk. */
export const idsFor = ({ durable }: Contender): (() => number) => (durable ? growingIds() : cyclingIds(plants))

/**
 * Measures a contender in a new process, on a core of its own where `pinned`, after half as long a warm-up. Rejects when
 * it does not do the work.
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
