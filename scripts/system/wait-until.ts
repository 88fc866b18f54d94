import { setTimeout as sleep } from 'node:timers/promises'

type Condition = () => boolean | Promise<boolean>

/** Milliseconds between two evaluations of a condition. */
const pollInterval = 10

/** Polls a condition for up to `timeout` milliseconds; returns whether it came to hold. */
export async function holdsWithin(timeout: number, condition: Condition): Promise<boolean> {
  for (const deadline = Date.now() + timeout; Date.now() < deadline; await sleep(pollInterval)) {
    if (await condition()) return true
  }
  return await condition()
}

/** Polls a condition until it holds. Rejects after `timeout` milliseconds with `what` was waited for. */
export async function waitUntil(what: string, condition: Condition, timeout = 60_000): Promise<void> {
  if (!(await holdsWithin(timeout, condition))) throw timedOut(what, timeout)
}

/** Settles as the promise does. Rejects after `timeout` milliseconds with `what` was waited for. */
export async function settlesWithin<Value>(what: string, promise: Promise<Value>, timeout = 60_000): Promise<Value> {
  const settled = new AbortController()
  const late = sleep(timeout, undefined, { signal: settled.signal }).then(() => {
    throw timedOut(what, timeout)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    settled.abort()
  }
}

const timedOut = (what: string, timeout: number): Error =>
  new Error(`timed out after ${timeout} ms waiting for ${what}`)
