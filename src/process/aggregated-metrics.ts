import { setTimeout as sleep } from 'node:timers/promises'
import { AggregatorRegistry } from 'prom-client'
import type { MetricValues } from '../observability/metrics.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Milliseconds to wait for the metrics of a worker; after that its last known values are used. */
const timeout = 1_000

/** Aggregates the metrics of the primary process, which `own` returns, and of its workers. */
export function aggregateMetrics(own: () => Promise<MetricValues>) {
  const latest = new Map<WorkerProcess, MetricValues>()
  /** The counters of workers that have exited. They stay in the sums, because a counter must not decrease. */
  let exitedCounters: Promise<MetricValues> = Promise.resolve([])

  async function ask(worker: WorkerProcess): Promise<void> {
    const late = sleep(timeout, undefined, { ref: false })
    const figures = await Promise.race([worker.ask('figures'), late]).catch(() => undefined)
    if (figures !== undefined) latest.set(worker, figures)
  }

  return {
    /** Returns the metrics in Prometheus' text format. */
    async text(workers: WorkerProcess[]): Promise<string> {
      const [figures] = await Promise.all([own(), ...workers.map(ask)])
      return await AggregatorRegistry.aggregate([figures, await exitedCounters, ...latest.values()]).metrics()
    },
    /** Keeps the last known counters of a worker that has exited. */
    keep(worker: WorkerProcess): void {
      // The package declares `type` as a number, but it is a string.
      const counts = latest.get(worker)?.filter(({ type }) => String(type) !== 'gauge') ?? []
      latest.delete(worker)
      exitedCounters = exitedCounters.then((sums) => AggregatorRegistry.aggregate([sums, counts]).getMetricsAsJSON())
    },
  }
}
