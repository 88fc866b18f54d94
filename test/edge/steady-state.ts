import { setTimeout as sleep } from 'node:timers/promises'
import { processorSeconds } from '../../scripts/system/process-usage.ts'
import type { Service } from '../scenarios/built-service.ts'
import type { Load } from './response-tally.ts'

/** Milliseconds of warm-up, and of measurement. */
const [settling, window] = [1_500, 2_500]

export type Measure = {
  /** Answers with 200 per second. */
  rate: number
  /** Answers with 200 per second of the service's CPU time, which other load on the machine hardly changes. */
  ratePerProcessor: number
  /** CPUs that this process used: at 1.0 the load generator, not the service, was the limit. */
  loadProcessors: number
  tally: Load['tally']
}

/** Runs a load on a service and measures it after a warm-up. */
export async function measure({ pid }: Service, start: () => Load): Promise<Measure> {
  const load = start()
  const now = () => ({
    good: load.tally.counts[200] ?? 0,
    time: performance.now() / 1_000,
    service: processorSeconds(pid),
    own: processorSeconds('self'),
  })
  await sleep(settling)
  const before = now()
  await sleep(window)
  const after = now()
  await load.stop()
  const [good, seconds] = [after.good - before.good, after.time - before.time]
  return {
    rate: good / seconds,
    ratePerProcessor: good / (after.service - before.service),
    loadProcessors: (after.own - before.own) / seconds,
    tally: load.tally,
  }
}
