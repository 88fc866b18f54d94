import { performance } from 'node:perf_hooks'
import { ContractError } from '../http/errors.ts'
import type { Limits } from './limits.ts'

/** Milliseconds between measurements, and the weight of the latest one in the moving average. */
const interval = 20
const weight = 0.2

/**
 * While the event loop is late, one request in this many is rejected. A rejection costs half a request, so rejecting
 * every request would keep the event loop saturated.
 */
const oneOf = 4

export type ShedReason = 'event_loop_delay' | 'in_flight' | 'body_memory'

export type Overload = {
  /** Returns the error for a new request while the service is overloaded; otherwise undefined. */
  admit(): ContractError | undefined
  /** Calls `done` once: with the handler's outcome, with its error, or with a 503 if it times out. */
  run<Outcome>(outcome: Promise<Outcome>, done: (error: unknown, outcome?: Outcome) => void): void
  close(): void
}

/** A running handler: its index in the list, the time of the last measurement when it began, and its callback. */
type Running = { place: number; since: number; done: ((error: unknown, outcome?: never) => void) | undefined }

/**
 * Watches the event loop delay and the number of running handlers, and enforces the handler timeout. Rejects some
 * requests under overload, so that the accepted ones are served in time. Calls `shed` for each rejection.
 */
export function watchOverload(
  { eventLoopDelay, inFlight, handlerTime }: Limits,
  shed: (reason: ShedReason) => void,
): Overload {
  // Not the event loop histogram of Node.js: after each reset it measures nothing until its second sample.
  let delay = 0
  let late = 0
  const running: Running[] = []
  let last = performance.now()
  const looking = setInterval(() => {
    const now = performance.now()
    delay += weight * (now - last - interval - delay)
    last = now
    // One timer for all handlers: one for each would cost more than many handlers do.
    for (const one of running) if (now - one.since >= handlerTime) expire(one)
  }, interval).unref()

  const reason = (): ShedReason | undefined => {
    if (running.length >= inFlight) return 'in_flight'
    return delay > eventLoopDelay && late++ % oneOf === 0 ? 'event_loop_delay' : undefined
  }

  return {
    admit() {
      const why = reason()
      if (why === undefined) return undefined
      shed(why)
      return overloaded('the service is overloaded')
    },
    run(outcome, done) {
      const one: Running = { place: running.length, since: last, done }
      running.push(one)
      const end: typeof done = (error, value) => {
        const latest = running.pop() as Running
        if (latest !== one) {
          running[one.place] = latest
          latest.place = one.place
        }
        one.done?.(error, value as never)
      }
      outcome.then((value) => end(undefined, value), end)
    },
    close() {
      clearInterval(looking)
    },
  }
}

/** Responds with a 503. The handler goes on and still counts as running, but its outcome is ignored. */
function expire(one: Running): void {
  one.done?.(overloaded('the service took too long'))
  one.done = undefined
}

/** Returns a 503 with a random Retry-After of 1 to 3 seconds, so that rejected clients do not all retry at once. */
export const overloaded = (message: string) =>
  new ContractError('unavailable', message, { 'retry-after': String(1 + Math.floor(3 * Math.random())) })
