import { performance } from 'node:perf_hooks'
import { ContractError } from '../contract/errors.ts'
import type { Limits } from './limits.ts'

/** Milliseconds between looks at the clock, and how much of the delay the latest one makes up. */
const interval = 20
const weight = 0.2

/**
 * While the event loop is late, this share is refused: to refuse costs half as much as to serve, and who refuses all does
 * nothing else, and stays late by that.
 */
const oneOf = 4

export type ShedReason = 'event_loop_delay' | 'in_flight'

export type Overload = {
  /** Gives what a new request is refused with while there is more than can be done. */
  admit(): ContractError | undefined
  /** Runs a handler; rejects with a 503 when it has no outcome in time, whatever becomes of it. */
  run<Outcome>(handle: () => Promise<Outcome>): Promise<Outcome>
  close(): void
}

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
  let last = performance.now()
  const looking = setInterval(() => {
    const now = performance.now()
    delay += weight * (now - last - interval - delay)
    last = now
  }, interval).unref()
  let running = 0
  let late = 0

  const reason = (): ShedReason | undefined => {
    if (running >= inFlight) return 'in_flight'
    return delay > eventLoopDelay && late++ % oneOf === 0 ? 'event_loop_delay' : undefined
  }

  async function counted<Outcome>(handle: () => Promise<Outcome>): Promise<Outcome> {
    running++
    try {
      return await handle()
    } finally {
      running--
    }
  }

  return {
    admit() {
      const why = reason()
      if (why === undefined) return undefined
      shed(why)
      return overloaded('the service has more to do than it can')
    },
    run: (handle) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(overloaded('the service took too long')), handlerTime).unref()
        counted(handle)
          .then(resolve, reject)
          .finally(() => clearTimeout(timer))
      }),
    close() {
      clearInterval(looking)
    },
  }
}

/** Spread, so that those who were refused together do not come back together. */
const overloaded = (message: string) =>
  new ContractError('unavailable', message, { 'retry-after': String(1 + Math.floor(3 * Math.random())) })
