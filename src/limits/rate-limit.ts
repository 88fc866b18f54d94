/** Counts one more event of somebody; gives the seconds until the next is allowed, 0 when this one is. */
export type Count = (of: string) => number

/** So many are remembered before those are looked for who may be forgotten. */
const remembered = 10_000

/**
 * Takes how many events of one key are allowed a minute, all at once or spread, 0 for any number; gives what counts
 * them. Keeps one number a key, the time at which everything that was taken is paid off (the generic cell rate
 * algorithm), and forgets the key by then.
 */
export function rateLimit(perMinute: number, now: () => number = Date.now): Count {
  const paidOff = new Map<string, number>()
  const interval = 60_000 / perMinute
  let sweepAt = remembered
  return (key) => {
    if (perMinute === 0) return 0
    const time = now()
    const next = Math.max(time, paidOff.get(key) ?? 0) + interval
    const wait = next - time - 60_000
    if (wait > 0) return wait / 1_000
    paidOff.set(key, next)
    if (paidOff.size > sweepAt) {
      for (const [other, end] of paidOff) if (end <= time) paidOff.delete(other)
      sweepAt = Math.max(remembered, 2 * paidOff.size)
    }
    return 0
  }
}
