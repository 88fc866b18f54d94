import { setTimeout as sleep } from 'node:timers/promises'

/** The default time limit in milliseconds, far longer than any wait on a busy machine. */
const defaultLimit = 120_000

/** Polls a condition for up to `timeout` milliseconds and returns whether it became true. */
export async function holdsWithin(timeout: number, condition: () => boolean | Promise<boolean>): Promise<boolean> {
  return await until(condition, '', timeout).catch(() => false)
}

type What = string | (() => string)

/**
 * Polls a condition and resolves with its first truthy value, at most a tenth of the time late: conditions that take
 * long are polled less often. Rejects if the condition throws, or after `limit` milliseconds with a message that names
 * `what`.
 */
export async function until<T>(condition: () => T | Promise<T>, what: What, limit = defaultLimit) {
  const start = performance.now()
  for (;;) {
    // The condition itself may hang, for example while it waits for a process.
    const value = await within(Promise.resolve().then(condition), what, limit)
    if (value) return value as Exclude<T, undefined | null | false | 0 | ''>
    const waited = performance.now() - start
    if (waited >= limit) throw late(what, limit)
    await sleep(Math.min(10 + waited / 10, 100))
  }
}

/** Resolves or rejects like a promise, or rejects after `limit` milliseconds with a message that names `what`. */
export async function within<T>(promise: Promise<T>, what: What, limit = defaultLimit): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late(what, limit)), limit)
  })
  return await Promise.race([promise, expired]).finally(() => clearTimeout(timer))
}

const late = (what: What, limit: number) =>
  new Error(`timed out after ${limit} ms: ${typeof what === 'string' ? what : what()}`)
