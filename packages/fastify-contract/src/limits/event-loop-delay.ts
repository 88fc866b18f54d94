import { performance } from 'node:perf_hooks'

/** Milliseconds between two measurements while the process is used. */
export const interval = 20

/** Measures the event loop delay. */
export type DelayMeter = ReturnType<typeof measureDelay>

/**
 * Measures how late a timer fires, from a call of `use` until `measured` returns false: a timer that always runs would
 * wake an idle process 50 times a second. Then, if `idleInterval` is given, it measures at that interval in milliseconds.
 *
 * @param measured Called with the delay and with the time since the last measurement, or the call of `use`, in
 *   milliseconds. Returns whether the process is still used.
 */
export function measureDelay(measured: (delay: number, passed: number) => boolean, idleInterval?: number) {
  let timer: NodeJS.Timeout | undefined
  /** The interval of the timer; undefined without one. */
  let scheduled: number | undefined
  let isUsed = false
  let since = 0
  let due = 0
  function schedule(milliseconds: number | undefined, now: number): void {
    since = now
    due = now + (milliseconds ?? Number.POSITIVE_INFINITY)
    // A new timer for each measurement would cost several times as much.
    if (timer !== undefined && milliseconds === scheduled) timer.refresh()
    else {
      clearTimeout(timer)
      timer = milliseconds === undefined ? undefined : setTimeout(measure, milliseconds).unref()
    }
    scheduled = milliseconds
  }
  function measure(): void {
    const now = performance.now()
    isUsed = measured(Math.max(0, now - due), now - since)
    schedule(isUsed ? interval : idleInterval, now)
  }
  schedule(idleInterval, performance.now())
  return {
    /** Starts the measurements. */
    use(): void {
      if (isUsed) return
      // What has blocked the event loop until now has delayed this use.
      const now = performance.now()
      if (now > due) measure()
      isUsed = true
      schedule(interval, now)
    },
    /** Stops the measurements. */
    close: (): void => clearTimeout(timer),
  }
}
