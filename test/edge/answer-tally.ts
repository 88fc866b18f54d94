import { createHistogram } from 'node:perf_hooks'
import type { Answer } from './keep-alive-client.ts'

/** Adds up answers. */
export type Tally = {
  add(answer: Answer): void
  /** How many answers there were of each status, and of each error of a connection. */
  readonly counts: Record<string, number>
  /** Answers that were not 200. */
  readonly failed: number
  /** Refusals, 429 or 503, that do not say when to come again. */
  readonly withoutRetryAfter: number
  /** When the latest 200 came, in milliseconds of `performance.now()`; 0 for never. */
  readonly lastGoodAt: number
  /** Milliseconds in which as many percent of the 200s came. */
  percentile(percent: number): number
}

export function newTally(): Tally {
  const counts: Record<string, number> = {}
  const latency = createHistogram()
  let [failed, withoutRetryAfter, lastGoodAt] = [0, 0, 0]
  return {
    add({ status, retryAfter, sentAt, endedAt }) {
      counts[status] = (counts[status] ?? 0) + 1
      if (status === 200) {
        latency.record(Math.max(1, Math.round((endedAt - sentAt) * 1e3)))
        lastGoodAt = endedAt
      } else failed++
      if ((status === 429 || status === 503) && retryAfter === undefined) withoutRetryAfter++
    },
    counts,
    get failed() {
      return failed
    },
    get withoutRetryAfter() {
      return withoutRetryAfter
    },
    get lastGoodAt() {
      return lastGoodAt
    },
    percentile: (percent) => Math.round(latency.percentile(percent) / 10) / 100,
  }
}
