/** Returns gaps in milliseconds of requests that arrive evenly, at a rate in requests a second. */
export const evenGaps = (rate: number) => (): number => 1_000 / rate

/**
 * Returns gaps in milliseconds of a Poisson process: requests that arrive independently of each other, as those of many
 * clients do. Such gaps are distributed exponentially.
 */
export const poissonGaps =
  (rate: number, random: () => number = Math.random) =>
  (): number =>
    (-Math.log(1 - random()) * 1_000) / rate

/** A schedule that ends. */
export type Schedule = {
  gap: () => number
  /** Returns how many requests were due; undefined until the last one is sent. */
  total: () => number | undefined
}

/** Ends a schedule after a time in milliseconds: the first request is due at 0, none later than that time. */
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
