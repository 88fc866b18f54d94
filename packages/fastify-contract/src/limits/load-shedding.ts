import { performance } from 'node:perf_hooks'
import { ContractError } from '../http/errors.ts'
import { type BodyMemory, smallBody } from '../http/read-body.ts'
import type { Limits } from './limits.ts'

/** Milliseconds between measurements of the event loop delay. */
const interval = 20

/** Smoothing factor of the exponential moving average: the share of the latest measurement. */
const smoothing = 0.2

/**
 * While the event loop is late, one request in this many is rejected. A rejection costs half a request, so rejecting
 * every request would keep the event loop saturated.
 */
const rejectOneIn = 4

/** Why a request is rejected under overload. */
export type ShedReason = 'event_loop_delay' | 'in_flight' | 'body_memory'

/** The load shedder and the handler timeout of an app. */
export type Overload = {
  /** Returns the error for a new request while the service is overloaded; otherwise undefined. */
  admit(): ContractError | undefined
  /** Calls `done` once: with the handler's outcome, with its error, or with a 503 if it times out. */
  run<Outcome>(outcome: Promise<Outcome>, done: (error: unknown, outcome?: Outcome) => void): void
  /** Stops the measurements. */
  close(): void
}

/** A running handler. */
type Running = {
  /** Its index in the list of running handlers. */
  index: number
  /** The time of the last measurement when it began. */
  began: number
  /** Its callback; undefined after its timeout. */
  done: ((error: unknown, outcome?: never) => void) | undefined
}

/**
 * Watches the event loop delay and the number of running handlers, and enforces the handler timeout. Rejects some
 * requests under overload, so that the accepted ones are served in time. Calls `shed` for each rejection.
 */
export function watchOverload(
  { eventLoopDelay, inFlight, handlerTime }: Limits,
  shed: (reason: ShedReason) => void,
): Overload {
  // monitorEventLoopDelay of Node.js does not fit: after each reset it measures nothing until its second sample.
  let delay = 0
  let requestsWhileLate = 0
  const running: Running[] = []
  let measuredAt = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    delay += smoothing * (now - measuredAt - interval - delay)
    measuredAt = now
    // One timer for all handlers: one for each would cost more than many handlers do.
    for (const handler of running) if (now - handler.began >= handlerTime) expire(handler)
  }, interval).unref()

  const shedReason = (): ShedReason | undefined => {
    if (running.length >= inFlight) return 'in_flight'
    return delay > eventLoopDelay && requestsWhileLate++ % rejectOneIn === 0 ? 'event_loop_delay' : undefined
  }

  return {
    admit() {
      const reason = shedReason()
      if (reason === undefined) return undefined
      shed(reason)
      return overloaded('the service is overloaded')
    },
    run(outcome, done) {
      const handler: Running = { index: running.length, began: measuredAt, done }
      running.push(handler)
      const end: typeof done = (error, value) => {
        // The latest handler takes the index of the ended one: removal from the middle would move all later ones.
        const latest = running.pop() as Running
        if (latest !== handler) {
          running[handler.index] = latest
          latest.index = handler.index
        }
        handler.done?.(error, value as never)
      }
      outcome.then((value) => end(undefined, value), end)
    },
    close() {
      clearInterval(timer)
    },
  }
}

/** Responds with a 503. The handler goes on and still counts as running, but its outcome is ignored. */
function expire(handler: Running): void {
  handler.done?.(overloaded('the service took too long'))
  handler.done = undefined
}

/** Returns a 503 with a random Retry-After of 1 to 3 seconds, so that rejected clients do not all retry at once. */
export const overloaded = (message: string) =>
  new ContractError('unavailable', message, { 'retry-after': String(1 + Math.floor(3 * Math.random())) })

/** In V8 a parsed body takes up to this many times the size of its text: `{"25":0}` takes 32 times, most bodies 3. */
const valueFactor = 32

/**
 * Creates the memory accounting of request bodies: at most `limit` bytes for bodies that arrive, and the same again for
 * parsed bodies. Calls `shed` for each rejected body. A body is never rejected while it is the only one.
 */
export function bodyMemory(limit: number, shed: (reason: ShedReason) => void): BodyMemory {
  let arriving = 0
  let values = 0
  const refuse = () => {
    shed('body_memory')
    return overloaded('the service has no memory left for the body')
  }
  return {
    take(bytes, taken) {
      if (arriving > taken && arriving + bytes > limit) return refuse()
      arriving += bytes
      return undefined
    },
    release(bytes) {
      arriving -= bytes
    },
    admit(bytes, held = 0) {
      const isAlone = values === valueFactor * held
      const fits = bytes < smallBody || isAlone || values + valueFactor * bytes <= limit
      return fits ? undefined : refuse()
    },
    during(bytes, outcome) {
      if (bytes < smallBody) return outcome
      values += valueFactor * bytes
      const release = () => {
        values -= valueFactor * bytes
      }
      outcome.then(release, release)
      return outcome
    },
  }
}
