import { performance } from 'node:perf_hooks'
import { ContractError } from '../http/errors.ts'
import type { Limits } from './limits.ts'

/** Milliseconds between looks at the clock, and how much of the delay the latest one makes up. */
const interval = 20
const weight = 0.2

/**
 * While the event loop is late, this share is refused: to refuse costs half as much as to serve, and who refuses all does
 * nothing else, and stays late by that.
 */
const oneOf = 4

export type ShedReason = 'event_loop_delay' | 'in_flight' | 'body_memory'

export type Overload = {
  /** Returns the error that a new request is rejected with while the service is overloaded. */
  admit(): ContractError | undefined
  /** Calls `done` once with the outcome or the error of a handler, or with a 503 when it has neither in time. */
  run<Outcome>(outcome: Promise<Outcome>, done: (error: unknown, outcome?: Outcome) => void): void
  close(): void
}

/** A handler: its place among all, the time of the last look at the clock when it began, and who waits for it. */
type Running = { place: number; since: number; done: ((error: unknown, outcome?: never) => void) | undefined }

/**
 * Watches how late the event loop is and how many handlers are under way. What is refused costs little, so that what is
 * taken gets its answer; `shed` is told of each refusal.
 */
export function watchOverload(
  { eventLoopDelay, inFlight, handlerTime }: Limits,
  shed: (reason: ShedReason) => void,
): Overload {
  // Node's own histogram of delays would have to be reset, and then counts nothing until its second look.
  let delay = 0
  let late = 0
  const running: Running[] = []
  let last = performance.now()
  const looking = setInterval(() => {
    const now = performance.now()
    delay += weight * (now - last - interval - delay)
    last = now
    // One timer for all of them: a timer for each costs more than many a handler.
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
      return overloaded('the service has more to do than it can')
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

/** It goes on, and counts, but nobody waits for it any more. */
function expire(one: Running): void {
  one.done?.(overloaded('the service took too long'))
  one.done = undefined
}

/** Spread, so that those who were refused together do not come back together. */
export const overloaded = (message: string) =>
  new ContractError('unavailable', message, { 'retry-after': String(1 + Math.floor(3 * Math.random())) })
