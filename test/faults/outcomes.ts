import type { Report } from 'fastify-contract-test-support/scenario-report'

/** The result of one request. Times are milliseconds since the epoch. */
export type Outcome = {
  id: bigint
  sentAt: number
  /** When the response was complete or the connection failed. */
  endedAt: number
  /** HTTP status, or error code of the connection. */
  status: number | string
  /** How the response violates the contract. */
  flaw: string | undefined
}

/** Ids that were sent, and ids that were answered with 200. Several loads can share one journal. */
export type Journal = { sent: Set<bigint>; acknowledged: Set<bigint> }

/** Returns an empty journal. */
export const newJournal = (): Journal => ({ sent: new Set(), acknowledged: new Set() })

/** Returns whether a write was acknowledged. */
export const isAcknowledged = ({ status }: Outcome): boolean => status === 200

/** Returns whether the service was unavailable for a write. */
export const isUnavailable = ({ status }: Outcome): boolean => status === 503

/** Returns whether the connection failed before a response. */
export const isDisconnected = ({ status }: Outcome): boolean => typeof status === 'string'

/** Returns whether no fault excuses a response: its status is neither 200 nor 503, or it violates the contract. */
export const isWrong = (outcome: Outcome): boolean =>
  outcome.flaw !== undefined || !(isAcknowledged(outcome) || isUnavailable(outcome) || isDisconnected(outcome))

/** Returns the number of outcomes that match. */
export const count = (outcomes: Outcome[], isCounted: (outcome: Outcome) => boolean): number =>
  outcomes.filter(isCounted).length

/** Returns the longest time (ms) that a client waited for a response. */
export const longestWait = (outcomes: Outcome[]): number =>
  outcomes.reduce((longest, { sentAt, endedAt }) => Math.max(longest, endedAt - sentAt), 0)

/** Reports the number of responses by status and by flaw; none may be wrong. */
export function reportOutcomes(report: Report, outcomes: Outcome[]): void {
  const counts: Record<string, number> = {}
  for (const { status, flaw } of outcomes)
    for (const key of flaw === undefined ? [status] : [status, flaw]) counts[key] = (counts[key] ?? 0) + 1
  for (const [status, times] of Object.entries(counts)) report.figure(`answers: ${status}`, times)
  report.zero('wrong answers', count(outcomes, isWrong))
}
