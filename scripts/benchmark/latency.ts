import { endAfter, poissonGaps } from './arrivals.ts'
import { type ContenderProcess, type StartOptions, startServer, token } from './contender-process.ts'
import type { Contender } from './contenders.ts'
import { type HttpFigures, openLoad } from './http-load.ts'
import { hasOwnCore, idsFor } from './measure-contender.ts'
import { median, quartiles } from './statistics.ts'

/** The latency of one process: milliseconds from when a request was due. */
export type LatencyFigures = Pick<HttpFigures, 'p50' | 'p99' | 'p999' | 'max' | 'errors'> & {
  /** Correct responses per second. */
  rate: number
  /** Microseconds of CPU per response. */
  cpu: number
}

export type LatencyOptions = {
  /** Requests per second. */
  rate: number
  connections: number
}

/** Measures the latency of Poisson arrivals in a new process, after a warm-up of `seconds / 4` at the same rate. */
export async function latencyAt(
  contender: Contender,
  seconds: number,
  { rate, connections }: LatencyOptions,
): Promise<LatencyFigures> {
  return await withServer(contender, {}, async (server) => {
    const load = openLoad({ ...targetOf(server, contender), connections, gap: poissonGaps(rate) })
    await load.measure(seconds / 4)
    const figures = await figuresOf(server, () => load.measure(seconds))
    load.close()
    return figures
  })
}

/** The seconds within which the requests of the first second must get a response. */
const responseTimeout = 4

/**
 * Measures all requests that are due in the first second after a new process is ready. The process has no request
 * before them. Rejects if one of them gets no response within four seconds.
 */
export async function firstSecond(
  contender: Contender,
  { rate, connections }: LatencyOptions,
): Promise<LatencyFigures> {
  return await withServer(contender, { untouched: true }, async (server) => {
    const schedule = endAfter(1_000, poissonGaps(rate))
    const load = openLoad({ ...targetOf(server, contender), connections, gap: schedule.gap })
    let answered = 0
    const figures = await figuresOf(server, async () => {
      const measured = await load.measure(responseTimeout)
      answered = measured.answers + measured.errors
      return { ...measured, seconds: 1 }
    })
    load.close()
    if (schedule.total() === answered) return figures
    throw new Error(`${answered} of ${schedule.total() ?? 'more'} requests got a response within ${responseTimeout} s`)
  })
}

const targetOf = ({ port }: ContenderProcess, contender: Contender) => ({
  port,
  token,
  ids: idsFor(contender),
  polls: hasOwnCore(contender),
})

async function withServer<T>(
  contender: Contender,
  options: Omit<StartOptions, 'pinned'>,
  run: (server: ContenderProcess) => Promise<T>,
): Promise<T> {
  const server = await startServer(contender, { pinned: true, ...options })
  try {
    return await run(server)
  } finally {
    await server.stop()
  }
}

async function figuresOf(server: ContenderProcess, measure: () => Promise<HttpFigures>): Promise<LatencyFigures> {
  const before = server.cpu()
  const { answers, seconds, errors, p50, p99, p999, max } = await measure()
  return { rate: answers / seconds, cpu: (1e6 * (server.cpu() - before)) / answers, errors, p50, p99, p999, max }
}

/** Formats a median with its quartiles. */
export function formatQuartiles(values: number[], digits: number): string {
  const [first, third] = quartiles(values)
  return `${median(values).toFixed(digits)} (${first.toFixed(digits)}-${third.toFixed(digits)})`
}
