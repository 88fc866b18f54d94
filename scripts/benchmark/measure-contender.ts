import { assertWorks } from './acceptance.ts'
import { startServer, token } from './contender-process.ts'
import type { Contender } from './contenders.ts'
import { openLoad } from './http-load.ts'
import { cores } from './pinning.ts'
import { cyclingIds, increasingIds } from './plant-ids.ts'
import { median } from './statistics.ts'
import { openWrk } from './wrk.ts'

export type Figures = {
  /** Correct responses per second. */
  rate: number
  /** Microseconds of CPU per response, of all threads of the server's processes. */
  cpu: number
  /** Latency in milliseconds. */
  p50: number
  p99: number
  /** Wrong responses and closed connections. */
  errors: number
  /** The average number of cores that the server's processes used. */
  busy: number
  /** The share of the time in which the main thread waited for its core. */
  waited: number
}

/** The number of plants in memory, small enough that each server's Map has its final size after the warm-up. */
const plants = 10_000

/** Returns the ids for a contender: a new id for each request if each plant must reach the disk. */
export const idsFor = ({ durable }: Contender): (() => number) => (durable ? increasingIds() : cyclingIds(plants))

/** Returns whether the load of a pinned contender has its own core, so that it need not sleep. */
export const hasOwnCore = ({ onLoadCore }: Contender): boolean => cores !== undefined && !onLoadCore

export type MeasureOptions = {
  seconds: number
  connections: number
  /** Whether the server has a core of its own; default: true. */
  pinned?: boolean
  /** The load generator; default: node, which is this process. */
  generator?: Generator
}

export const generators = ['node', 'wrk'] as const
export type Generator = (typeof generators)[number]

/** Measures a contender in a new process, after a warm-up of half the time. Rejects if `assertWorks` rejects. */
export async function measure(
  contender: Contender,
  { seconds, connections, pinned = true, generator = 'node' }: MeasureOptions,
): Promise<Figures> {
  const server = await startServer(contender, { pinned })
  try {
    await assertWorks(contender.name, server.port, token)
    const target = { port: server.port, token, connections }
    const load =
      generator === 'wrk'
        ? openWrk({ ...target, ids: contender.durable ? undefined : plants })
        : openLoad({ ...target, ids: idsFor(contender), polls: pinned && hasOwnCore(contender) })
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

/** Returns the peak rate of a contender in requests per second: the median of three processes. */
export async function peakRate(contender: Contender, connections: number): Promise<number> {
  const rates: number[] = []
  while (rates.length < 3) rates.push((await measure(contender, { seconds: 5, connections })).rate)
  return median(rates)
}
