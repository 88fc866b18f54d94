import { setTimeout as sleep } from 'node:timers/promises'
import { processorSeconds } from '../../scripts/system/process-usage.ts'
import type { Service } from '../scenarios/built-service.ts'
import type { Load } from './closed-loop.ts'

/** Milliseconds of a load before it is measured, and in which it is. */
const [settling, window] = [1_500, 2_500]

export type Measure = {
  /** 200s in a second. */
  rate: number
  /** 200s in a second of the service's processor time: what else the machine does hardly changes it. */
  ratePerProcessor: number
  /** Processors that this process used: when it needs a whole one, the load was what was measured. */
  loadProcessors: number
  tally: Load['tally']
}

/** Runs a load on a service until it has settled, measures it for some seconds, and ends it. */
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
