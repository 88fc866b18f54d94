import { createHistogram } from 'node:perf_hooks'
import type { CreateResponse } from './keep-alive-client.ts'

/** A running load. */
export type Load = {
  tally: Tally
  /** Sends no more requests; resolves when every request has its answer. */
  stop(): Promise<void>
}

/** Counts answers. */
export type Tally = {
  add(answer: CreateResponse): void
  /** Number of answers by status, and of failed connections by error code. */
  readonly counts: Record<string, number>
  /** Answers that were not 200. */
  readonly failed: number
  /** Refusals (429 or 503) without Retry-After. */
  readonly withoutRetryAfter: number
  /** When the latest 200 arrived, in milliseconds of `performance.now()`; 0 if there was none. */
  readonly lastGoodAt: number
  /** Returns a percentile of the latency of the 200s, in milliseconds. */
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
