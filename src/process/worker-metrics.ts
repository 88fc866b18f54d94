import { setTimeout as sleep } from 'node:timers/promises'
import { AggregatorRegistry } from 'prom-client'
import type { Figures } from '../observability/metrics.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Milliseconds that a worker may take to tell its figures; after that those are shown that it told last. */
const patience = 1_000

/** Returns the metrics of all processes as sums, from the figures of the primary process and those of its workers. */
export function addFigures(own: () => Promise<Figures>) {
  const latest = new Map<WorkerProcess, Figures>()
  /** What was counted by workers that have ended: no sum may fall. */
  let counted: Promise<Figures> = Promise.resolve([])

  async function ask(worker: WorkerProcess): Promise<void> {
    const late = sleep(patience, undefined, { ref: false })
    const figures = await Promise.race([worker.ask('figures'), late]).catch(() => undefined)
    if (figures !== undefined) latest.set(worker, figures)
  }

  return {
    /** Returns the metrics in Prometheus' text format. */
    async text(workers: WorkerProcess[]): Promise<string> {
      const [figures] = await Promise.all([own(), ...workers.map(ask)])
      return await AggregatorRegistry.aggregate([figures, await counted, ...latest.values()]).metrics()
    },
    /** Keeps the last known figures of a worker that has exited. */
    keep(worker: WorkerProcess): void {
      // The package declares numbers, and gives words.
      const counts = latest.get(worker)?.filter(({ type }) => String(type) !== 'gauge') ?? []
      latest.delete(worker)
      counted = counted.then((before) => AggregatorRegistry.aggregate([before, counts]).getMetricsAsJSON())
    },
  }
}
