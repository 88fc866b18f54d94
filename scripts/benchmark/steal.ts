import { readFileSync } from 'node:fs'

/** The times of all processors so far, in any unit: in which they worked, and in which the hypervisor ran others. */
export type ProcessorTimes = { worked: number; stolen: number }

/** The share of stolen time above which a slice is dropped: two processes of the same code differ by more than this. */
const stealLimit = 0.05

/** How often a slice is measured at most. */
const attempts = 3

/** Returns the times of all processors in 1/100 s (proc_stat(5)). */
function processorTimes(): ProcessorTimes {
  const [, line = ''] = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? []
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(' ').map(Number)
  return { worked: user + nice + system + irq + softirq, stolen: steal }
}

/**
 * Measures slices, and drops those in which the hypervisor stole time: a slice is measured up to three times, until the
 * share of stolen time is at most 5 %.
 */
export class QuietSlices {
  #measured = 0
  #dropped = 0
  #noisy = 0
  readonly #times: () => ProcessorTimes

  constructor(times = processorTimes) {
    this.#times = times
  }

  /** Whether time was stolen in all attempts of at least one slice in ten, so that times in seconds mean little. */
  get isNoisy(): boolean {
    return this.#noisy * 10 >= this.#measured && this.#noisy > 0
  }

  /** A sentence about what was dropped. */
  get summary(): string {
    const all = this.#measured.toLocaleString('en-US')
    const rest =
      this.#noisy === 0 ? '' : ` ${this.#noisy} more had as much in each of ${attempts} attempts, and remain.`
    return `Of ${all} slices, ${this.#dropped} were dropped and repeated, since the hypervisor stole more than ${100 * stealLimit} % of their time.${rest}`
  }

  /** Returns what `measure` returns in a slice without much stolen time, or in the last attempt. */
  async measure<Result>(
    measure: () => Promise<Result>,
    discard: (result: Result) => Promise<void> = async () => {},
  ): Promise<Result> {
    this.#measured++
    for (let attempt = 1; ; attempt++) {
      const before = this.#times()
      const result = await measure()
      const after = this.#times()
      const [worked, stolen] = [after.worked - before.worked, after.stolen - before.stolen]
      if (stolen <= stealLimit * (worked + stolen)) return result
      if (attempt === attempts) {
        this.#noisy++
        return result
      }
      this.#dropped++
      await discard(result)
    }
  }
}
