import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from './unavailable.ts'

/** The most runs of a transaction; after them its creates are rejected as unavailable. */
const attempts = 10

/** Milliseconds: before retry n, from the second on, the pause is at most `pause * 2 ** (n - 1)`. */
const pause = 1

/** SQLSTATEs after which a transaction may succeed when it is run again: serialization failure, deadlock. */
const retryable = /^(40001|40P01)$/
/** SQLSTATE classes of errors that a single record can cause: data exceptions, constraint violations, server limits. */
const ofRecord = /^(22|23|54)/

/** Returns whether a single record can have caused an error. */
export const isRecordError = (error: unknown): boolean => ofRecord.test((error as { code?: string }).code ?? '')

/**
 * Runs `attempt` until it resolves with a result, up to ten times. Undefined and a retryable error of the server cause
 * a retry. The first retry is immediate. Later ones follow a random pause, so that conflicting transactions do not meet
 * again. Rejects with an error that a single record can cause, and with `Unavailable` for any other.
 */
export async function withRetries<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let attempted = 0; attempted < attempts; attempted++) {
    if (attempted > 1) await sleep(Math.random() * pause * 2 ** (attempted - 1))
    try {
      const result = await attempt()
      if (result !== undefined) return result
    } catch (error) {
      const { code = '', message } = error as Error & { code?: string }
      if (retryable.test(code)) continue
      throw isRecordError(error) ? error : new Unavailable(message, { cause: error })
    }
  }
  throw new Unavailable('other transactions keep changing the same plants')
}
