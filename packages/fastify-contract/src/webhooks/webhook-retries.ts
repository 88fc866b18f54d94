import { setTimeout as sleep } from 'node:timers/promises'

/** When a request is sent again. Only the memory of the process knows of the attempts to come. */
export type RetryOptions = {
  /** The maximum number of attempts, the first included: 1 to 100. */
  attempts: number
  /** The maximum milliseconds before the second attempt; twice as many before each further one; default 1,000. */
  delay?: number
  /** The maximum milliseconds before an attempt; default 60,000. */
  maxDelay?: number
  /** The milliseconds after the first attempt in which others may begin; default 300,000, at most 86,400,000. */
  within?: number
}

type Schedule = Required<RetryOptions>

const limits: Record<keyof RetryOptions, [min: number, max: number]> = {
  attempts: [1, 100],
  delay: [0, 86_400_000],
  maxDelay: [0, 86_400_000],
  within: [0, 86_400_000],
}

/** Returns the options with their defaults. Throws a TypeError for a number out of range. */
export function retrySchedule(options: RetryOptions): Schedule {
  const schedule = { delay: 1_000, maxDelay: 60_000, within: 300_000, ...options }
  for (const [name, [min, max]] of Object.entries(limits)) {
    const value = schedule[name as keyof RetryOptions]
    if (!Number.isInteger(value) || value < min || value > max) {
      throw new TypeError(`retry.${name}: ${value} is not an integer from ${min} to ${max}`)
    }
  }
  return schedule
}

/** What happened to a webhook so far. */
export type Delivery = {
  /** The `webhook-id`, the same in each attempt. */
  id: string
  attempts: number
  /** Whether another attempt may succeed: no response arrived, or its status is 408, 425, 429 or 5xx. */
  mayRetry: boolean
  /** The milliseconds that the receiver asks to wait, by `Retry-After`; 0 if it does not ask. */
  retryAfter: number
}

/** The status of a response, and its headers; undefined if none arrived. */
type Attempted = { status: number | undefined; headers: Headers | undefined }

/**
 * Calls `attempt` until another attempt is useless or not allowed. Waits in between as long as `Retry-After` says, and a
 * random time that doubles: attempts of many senders that failed together must not be repeated together. Rejects with
 * the reason of the signal when it aborts.
 */
export async function attemptRepeatedly<Result extends Attempted>(
  attempt: () => Promise<Result>,
  { attempts: maxAttempts, delay, maxDelay, within }: Schedule,
  signal: AbortSignal | null | undefined,
): Promise<{ last: Result } & Omit<Delivery, 'id'>> {
  const start = performance.now()
  for (let attempts = 1; ; attempts += 1) {
    const last = await attempt()
    const mayRetry = isTransient(last.status)
    const retryAfter = retryAfterOf(last.headers)
    const wait = retryAfter + Math.random() * Math.min(maxDelay, delay * 2 ** (attempts - 1))
    const isLast = !mayRetry || attempts >= maxAttempts || performance.now() - start + wait > within
    if (isLast) return { last, attempts, mayRetry, retryAfter }
    // The cause of an AbortError is the reason of its signal.
    await sleep(wait, undefined, signal ? { signal } : {}).catch(({ cause }) => Promise.reject(cause))
  }
}

const isTransient = (status: number | undefined): boolean =>
  status === undefined || [408, 425, 429].includes(status) || status >= 500

/** RFC 9110 section 10.2.3: seconds, or a date. Returns milliseconds. */
function retryAfterOf(headers: Headers | undefined): number {
  const text = headers?.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const time = text.endsWith(' GMT') ? Date.parse(text) - Date.now() : 0
  return time > 0 ? time : 0
}
