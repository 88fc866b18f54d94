/** A rate limiter for clients or addresses. */
export type RateLimit = {
  /** Counts an event if it is allowed. Returns 0 if it is, else the seconds until the next event is allowed. */
  take(of: string): number
  /** Returns the same as `take`, without counting. */
  wait(of: string): number
}

/** Not the wall clock: if it were set back, every client would be rejected until it caught up. */
const monotonic = (): number => performance.now()

/** Tolerance in milliseconds for floating-point errors. */
const rounding = 0.1

/** The number of keys above which keys whose quota is full again are evicted. */
const maxKeys = 10_000

/**
 * Creates a rate limiter that allows `perMinute` events for each key, in a burst or spread; 0 means no limit. `keyOf`
 * returns the key of a client or address. The limiter stores one number for each key, the time at which its quota is
 * full again (generic cell rate algorithm), and evicts keys whose quota is full.
 */
export function rateLimit(perMinute: number, keyOf = (of: string) => of, now = monotonic): RateLimit {
  /** By key, the time at which its quota is full again. */
  const fullAt = new Map<string, number>()
  const interval = 60_000 / perMinute
  let sweepAt = maxKeys
  const evict = (time: number) => {
    for (const [key, end] of fullAt) if (end <= time) fullAt.delete(key)
    sweepAt = Math.max(maxKeys, 2 * fullAt.size)
  }
  const look = (of: string) => {
    const [key, time] = [keyOf(of), now()]
    const next = Math.max(time, fullAt.get(key) ?? 0) + interval
    const early = next - time - 60_000
    return { key, time, next, seconds: early > rounding ? early / 1_000 : 0 }
  }
  if (perMinute === 0) return { take: () => 0, wait: () => 0 }
  return {
    take(of) {
      const { key, time, next, seconds } = look(of)
      if (seconds > 0) return seconds
      fullAt.set(key, next)
      if (fullAt.size > sweepAt) evict(time)
      return 0
    },
    wait: (of) => look(of).seconds,
  }
}
