/** Returns a function that returns the gap between evenly spaced requests, in milliseconds. `rate` is per second. */
export const evenGaps = (rate: number) => (): number => 1_000 / rate

/**
 * Returns a function that returns the gaps of a Poisson process, in milliseconds: requests arrive independently of each
 * other, as those of many clients do, so the gaps are distributed exponentially. `rate` is in requests per second.
 */
export const poissonGaps =
  (rate: number, random: () => number = Math.random) =>
  (): number =>
    (-Math.log(1 - random()) * 1_000) / rate

/** A schedule of requests that ends. */
export type Schedule = {
  gap: () => number
  /** Returns the number of requests that were due, or undefined until the last one is sent. */
  total: () => number | undefined
}

/** Ends a schedule after `length` milliseconds. The first request is due at 0, and none is due after that time. */
export function endAfter(length: number, gap: () => number): Schedule {
  let [count, next] = [0, 0]
  return {
    gap() {
      count++
      const wait = gap()
      next += wait
      return next < length ? wait : Number.POSITIVE_INFINITY
    },
    total: () => (next < length ? undefined : count),
  }
}
