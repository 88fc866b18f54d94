import { isIPv6 } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type ContractError, overloaded } from '../contract/errors.ts'
import { interval, measureDelay } from './event-loop-delay.ts'

/** The limits on the work that clients can cause. Times are in milliseconds; a rate of 0 means no limit. */
export type Limits = {
  /** Bytes of a body that is read whole. */
  body: number
  /** Bytes of memory for all arriving bodies, and the same again for all parsed bodies. */
  bodyMemory: number
  /** Bytes of a body that its handler reads as a stream. */
  upload: number
  /** Number of fields of a form, or of parts of a multipart form. */
  formFields: number
  /** Bytes of a header section. */
  headers: number
  /** Time until the headers of a request must have arrived. */
  headersTime: number
  /** Time until a whole request must have arrived. */
  requestTime: number
  /** Time after which an idle connection is closed. */
  keepAliveTime: number
  /** Bytes that are read from a connection after its last response, so that a client that still sends gets it. */
  linger: number
  /** Time in which they are read. */
  lingerTime: number
  /** Time after which a handler counts as failed. */
  handlerTime: number
  /** Number of open connections. */
  connections: number
  /** Number of handlers that run at the same time. */
  inFlight: number
  /** Average event loop delay above which requests are rejected. */
  eventLoopDelay: number
  /** Requests of one client a minute. */
  requests: number
  /** Failed authentications from one address a minute. */
  authFailures: number
}

/** Limits that a small machine can sustain and that no well-behaved client reaches. */
export const defaultLimits: Limits = {
  body: 262_144,
  bodyMemory: 67_108_864,
  upload: 67_108_864,
  formFields: 1_000,
  headers: 16_384,
  headersTime: 10_000,
  requestTime: 30_000,
  // Longer than the idle timeout of most load balancers, one minute: otherwise they would reuse a closed connection.
  keepAliveTime: 72_000,
  // As many as the default limit of an upload.
  linger: 67_108_864,
  lingerTime: 30_000,
  handlerTime: 10_000,
  connections: 10_000,
  inFlight: 512,
  eventLoopDelay: 200,
  requests: 0,
  authFailures: 60,
}

/** Milliseconds of average delay down to which it is measured after the last use, so that it decays. */
const negligible = 1

/** Smoothing factor of the exponential moving average: the share of the latest measurement. */
const smoothing = 0.2

/**
 * While the event loop is late, one request in this many is rejected. A rejection costs half a request, so rejecting
 * every request would keep the event loop saturated.
 */
const rejectOneIn = 4

/**
 * The largest measurement that counts, as a multiple of the limit. Times the smoothing factor, it is below 1: one pause
 * of the process is no overload, such as a module that loads late, SIGSTOP, or the sleep of a laptop.
 */
const largestDelay = 4

/** Why a request is rejected under overload. */
export type ShedReason = 'event_loop_delay' | 'in_flight' | 'body_memory'

/** A running handler. */
type Running = {
  /** Its index in the list of running handlers. */
  index: number
  /** The `time` of the latest measurement at its start. */
  began: number
  /** Its callback; undefined after its timeout. */
  done: ((error: unknown, response?: never) => void) | undefined
}

/** The load shedder and the handler timeout of an app. */
export type LoadShedder = ReturnType<typeof createLoadShedder>

/**
 * Watches the event loop delay and the number of running handlers, and enforces the handler timeout. Rejects some
 * requests under overload, so that the accepted ones are served in time. Calls `shed` for each rejection.
 */
export function createLoadShedder(
  { eventLoopDelay, inFlight, handlerTime }: Limits,
  shed: (reason: ShedReason) => void,
) {
  // monitorEventLoopDelay of Node.js does not fit: after each reset it measures nothing until its second sample.
  let average = 0
  let requestsWhileLate = 0
  /** Whether a request has arrived, or a handler has run, since the latest measurement. */
  let isUsed = false
  const running: Running[] = []
  /** Milliseconds in which handlers could run: a pause of the process counts as half of the handler timeout at most. */
  let time = 0
  const meter = measureDelay(function countDelay(delay, passed) {
    // Without requests, what delays the event loop is no load: at start, the process loads its modules.
    const counted = isUsed ? Math.min(delay, largestDelay * eventLoopDelay) : 0
    average += smoothing * (counted - average)
    const goesOn = isUsed || average > negligible
    isUsed = running.length > 0
    time += Math.min(passed, interval + handlerTime / 2)
    // One timer for all handlers: one for each would cost more than many handlers do.
    for (const handler of running) if (time - handler.began >= handlerTime) expire(handler)
    return goesOn
  })
  const use = () => {
    isUsed = true
    meter.use()
  }

  const shedReason = (): ShedReason | undefined => {
    if (running.length >= inFlight) return 'in_flight'
    return average > eventLoopDelay && requestsWhileLate++ % rejectOneIn === 0 ? 'event_loop_delay' : undefined
  }

  return {
    /** Returns the error for a new request while the service is overloaded; otherwise undefined. */
    shedLoad(): ContractError | undefined {
      use()
      const reason = shedReason()
      if (reason === undefined) return undefined
      shed(reason)
      return overloaded('the service is overloaded')
    },
    /** Calls `done` once: with the handler's response, with its error, or with a 503 if it times out. */
    runWithTimeout<Response>(response: Promise<Response>, done: (error: unknown, response?: Response) => void): void {
      const handler: Running = { index: running.length, began: time, done }
      const end: typeof done = (error, value) => {
        // The latest handler takes the index of the ended one: removal from the middle would move all later ones.
        const latest = running.pop() as Running
        if (latest !== handler) {
          running[handler.index] = latest
          latest.index = handler.index
        }
        handler.done?.(error, value as never)
      }
      // Throws for a handler that has returned no promise; it must not count as running.
      response.then((value) => end(undefined, value), end)
      running.push(handler)
      use()
    },
    /** Stops the measurements. */
    close: meter.close,
  }
}

/** Responds with a 503. The handler goes on and still counts as running, but its response is ignored. */
function expire(handler: Running): void {
  handler.done?.(overloaded('the service took too long'))
  handler.done = undefined
}

/** A rate limiter for clients or addresses. */
export type RateLimit = {
  /** Counts an event if it is allowed. Returns 0 if it is, else the seconds until the next event is allowed. */
  take(client: string): number
  /** Returns the same as `take`, without counting. */
  wait(client: string): number
  /** Returns the response headers that tell the limit and what is left of it; undefined without a limit. */
  fields(client: string): RateLimitFields | undefined
}

/** The part of a rate limiter that counts the requests of clients. */
export type RequestLimit = Pick<RateLimit, 'take'> & Partial<Pick<RateLimit, 'fields'>>

/** The response headers of draft-ietf-httpapi-ratelimit-headers-11. */
export type RateLimitFields = Record<(typeof rateLimitHeaders)[number], string>

export const rateLimitHeaders = ['RateLimit', 'RateLimit-Policy'] as const

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
  /** Milliseconds between two events at the full rate. */
  const spacing = 60_000 / perMinute
  let sweepAt = maxKeys
  const evict = (time: number) => {
    for (const [key, full] of fullAt) if (full <= time) fullAt.delete(key)
    // Amortized O(1): the eviction threshold doubles with the map.
    sweepAt = Math.max(maxKeys, 2 * fullAt.size)
  }
  const check = (client: string) => {
    const [key, time] = [keyOf(client), now()]
    const nextFullAt = Math.max(time, fullAt.get(key) ?? 0) + spacing
    const milliseconds = nextFullAt - time - 60_000
    return { key, time, nextFullAt, seconds: milliseconds > rounding ? milliseconds / 1_000 : 0 }
  }
  if (perMinute === 0) return { take: () => 0, wait: () => 0, fields: () => undefined }
  const policy = `"default";q=${Math.floor(perMinute)};w=60`
  return {
    take(client) {
      const { key, time, nextFullAt, seconds } = check(client)
      if (seconds > 0) return seconds
      fullAt.set(key, nextFullAt)
      if (fullAt.size > sweepAt) evict(time)
      return 0
    },
    wait: (client) => check(client).seconds,
    fields(client) {
      const { time, nextFullAt, seconds } = check(client)
      const left = seconds > 0 ? 0 : 1 + Math.floor((time + 60_000 + rounding - nextFullAt) / spacing)
      // A client may send r/t requests a second. The time is rounded up, so that this never exceeds the rate of the
      // policy (section 8.5).
      const window = Math.ceil(left > 0 ? (left * spacing) / 1_000 : seconds)
      return { RateLimit: `"default";r=${left};t=${window}`, 'RateLimit-Policy': policy }
    },
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
