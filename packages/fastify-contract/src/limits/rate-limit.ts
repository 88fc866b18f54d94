import { isIPv6 } from 'node:net'

/** A rate limiter for clients or addresses. */
export type RateLimit = {
  /** Counts an event if it is allowed. Returns 0 if it is, else the seconds until the next event is allowed. */
  take(client: string): number
  /** Returns the same as `take`, without counting. */
  wait(client: string): number
}

/** Returns monotonic milliseconds. If a wall clock were set back, every client would be rejected until it caught up. */
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
export function rateLimit(perMinute: number, keyOf = (client: string) => client, now = monotonic): RateLimit {
  /** By key, the time at which its quota is full again. */
  const fullAt = new Map<string, number>()
  const interval = 60_000 / perMinute
  let sweepAt = maxKeys
  const evict = (time: number) => {
    for (const [key, full] of fullAt) if (full <= time) fullAt.delete(key)
    // The bound doubles with the size, so that evictions cost each key a constant time on average.
    sweepAt = Math.max(maxKeys, 2 * fullAt.size)
  }
  const check = (client: string) => {
    const [key, time] = [keyOf(client), now()]
    const nextFullAt = Math.max(time, fullAt.get(key) ?? 0) + interval
    const milliseconds = nextFullAt - time - 60_000
    return { key, time, nextFullAt, seconds: milliseconds > rounding ? milliseconds / 1_000 : 0 }
  }
  if (perMinute === 0) return { take: () => 0, wait: () => 0 }
  return {
    take(client) {
      const { key, time, nextFullAt, seconds } = check(client)
      if (seconds > 0) return seconds
      fullAt.set(key, nextFullAt)
      if (fullAt.size > sweepAt) evict(time)
      return 0
    },
    wait: (client) => check(client).seconds,
  }
}

/**
 * Returns the part of an IP address that identifies one client: a whole IPv4 address, or the first 64 bits of an IPv6
 * address, because each site has at least a /64 of its own (RFC 6177 section 2). An IPv4-mapped IPv6 address (RFC 4291
 * section 2.5.5.2) counts as its IPv4 address.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address
  const [before = '', after] = address.replace(/%.*$/, '').split('::')
  const groups = (text = '') => (text === '' ? [] : text.split(':'))
  const [head, tail] = [groups(before), groups(after)]
  const zeros = after === undefined ? 0 : 8 - head.length - tail.length
  return [...head, ...Array(zeros).fill('0'), ...tail].slice(0, 4).join(':').toLowerCase()
}
