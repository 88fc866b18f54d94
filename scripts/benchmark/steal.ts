import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** Times so far, in any unit: what all processors worked, what the hypervisor stole of them, and what passed. */
export type ProcessorTimes = { worked: number; stolen: number; passed: number }

/** What a slice measured, and whether its figures count. */
export type Slice<Result> = { result: Result; isQuiet: boolean }

/** The share of stolen time above which a slice is measured again. */
const repeatLimit = 0.02

/** The share of stolen time above which a slice is dropped: two processes of the same code differ by more than this. */
const dropLimit = 0.05

/** How often a slice is measured at most. */
const attempts = 3

/** How many slices were measured, how often one was repeated, and how many were dropped. */
export type SliceCounts = { measured: number; repeated: number; dropped: number }

/** Returns a sentence about slices. */
export function sliceText(all: SliceCounts[]): string {
  const [measured, repeats, dropped] = (['measured', 'repeated', 'dropped'] as const).map((name) =>
    all.reduce((sum, counts) => sum + counts[name], 0).toLocaleString('en-US'),
  )
  return (
    `${measured} slices: ${repeats} repeats, since more than ${100 * repeatLimit} % of the time was stolen, and ` +
    `${dropped} dropped, since more than ${100 * dropLimit} % was stolen in each of ${attempts} attempts.`
  )
}

/** Returns the times since the start of the machine in 1/100 s (proc_stat(5)). */
function processorTimes(): ProcessorTimes {
  const [, line = ''] = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? []
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, stolen = 0] = line
    .split(' ')
    .map(Number)
  const worked = user + nice + system + irq + softirq
  return { worked, stolen, passed: (worked + idle + wait + stolen) / cpus().length }
}

/**
 * Measures slices, and reads the time that the hypervisor stole from each. A slice is measured up to three times, until
 * at most 2 % of its time was stolen. The quietest attempt counts, unless more than 5 % of its time was stolen.
 */
export class QuietSlices {
  readonly counts: SliceCounts = { measured: 0, repeated: 0, dropped: 0 }
  readonly #times: () => ProcessorTimes

  constructor(times = processorTimes) {
    this.#times = times
  }

  /** Whether at least one slice in ten was dropped, so that times in seconds mean little. */
  get isNoisy(): boolean {
    return this.counts.dropped * 10 >= this.counts.measured && this.counts.dropped > 0
  }

  /** Returns the result of the quietest attempt, and whether it counts. `discard` gets the results of the others. */
  async measure<Result>(
    measure: () => Promise<Result>,
    discard: (result: Result) => Promise<void> = async () => {},
  ): Promise<Slice<Result>> {
    this.counts.measured++
    let best = await this.#attempt(measure)
    for (let attempt = 2; best.stolen > repeatLimit && attempt <= attempts; attempt++) {
      this.counts.repeated++
      const next = await this.#attempt(measure)
      const [better, worse] = next.stolen < best.stolen ? [next, best] : [best, next]
      await discard(worse.result)
      best = better
    }
    const isQuiet = best.stolen <= dropLimit
    if (!isQuiet) this.counts.dropped++
    return { result: best.result, isQuiet }
  }

  async #attempt<Result>(measure: () => Promise<Result>): Promise<{ result: Result; stolen: number }> {
    const before = this.#times()
    const result = await measure()
    const after = this.#times()
    const [worked, stolen, passed] = (['worked', 'stolen', 'passed'] as const).map((name) => after[name] - before[name])
    // Idle processes work so little that a single tick would be a large share: the share is at least that of one core.
    const share =
      stolen === 0 ? 0 : (stolen as number) / Math.max((worked as number) + (stolen as number), passed as number)
    return { result, stolen: share }
  }
}
