/** What one client, or one address, may do a minute. */
export type RateLimit = {
  /** Counts one more event of somebody; gives the seconds until the next is allowed, 0 when this one is. */
  take(of: string): number
  /** Returns the same without counting. */
  wait(of: string): number
}

/** The wall clock may be set back, which would refuse everybody until it is where it was. */
const monotonic = (): number => performance.now()

/** Milliseconds by which the sums of fractions may be wrong. */
const rounding = 0.1

/** So many are remembered before those are looked for who may be forgotten. */
const remembered = 10_000

/**
 * Creates a rate limiter of `perMinute` events for each key, 0 for any number, at once or spread. `keyOf` returns the
 * key of a client. It stores one number for each key, the time at which its quota is full again (generic cell rate
 * algorithm), and evicts the key then.
 */
export function rateLimit(perMinute: number, keyOf = (of: string) => of, now = monotonic): RateLimit {
  const paidOff = new Map<string, number>()
  const interval = 60_000 / perMinute
  let sweepAt = remembered
  const forget = (time: number) => {
    for (const [key, end] of paidOff) if (end <= time) paidOff.delete(key)
    sweepAt = Math.max(remembered, 2 * paidOff.size)
  }
  const look = (of: string) => {
    const [key, time] = [keyOf(of), now()]
    const next = Math.max(time, paidOff.get(key) ?? 0) + interval
    const early = next - time - 60_000
    return { key, time, next, seconds: early > rounding ? early / 1_000 : 0 }
  }
  if (perMinute === 0) return { take: () => 0, wait: () => 0 }
  return {
    take(of) {
      const { key, time, next, seconds } = look(of)
      if (seconds > 0) return seconds
      paidOff.set(key, next)
      if (paidOff.size > sweepAt) forget(time)
      return 0
    },
    wait: (of) => look(of).seconds,
  }
}
