import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from './unavailable.ts'

/** How often a transaction is run before its clients are told to try again. */
const attempts = 10

/** The longest pause before the second retry, in milliseconds; it doubles with each further one. */
const pause = 1

/** SQLSTATE of what ends a transaction that may succeed when it is run again: a failed serialization, a deadlock. */
const retryable = /^(40001|40P01)$/
/** SQLSTATE classes of what one record can be to blame for: data exceptions, constraints, a limit of the server. */
const ofRecord = /^(22|23|54)/

/** Returns whether an error can be due to the record of a statement. */
export const isOfRecord = (error: unknown): boolean => ofRecord.test((error as { code?: string }).code ?? '')

/**
 * Runs `attempt` until it has a result, as long as the server's errors tell that it may have one the next time. The
 * first retry comes at once, later ones after a random pause, so that those that conflicted do not meet again.
 */
export async function untilDone<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let attempted = 0; attempted < attempts; attempted++) {
    if (attempted > 1) await sleep(Math.random() * pause * 2 ** (attempted - 1))
    try {
      const result = await attempt()
      if (result !== undefined) return result
    } catch (error) {
      const { code = '', message } = error as Error & { code?: string }
      if (retryable.test(code)) continue
      throw isOfRecord(error) ? error : new Unavailable(message, { cause: error })
    }
  }
  throw new Unavailable('others change the same plants')
}
