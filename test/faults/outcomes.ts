import type { Report } from '../scenarios/scenario-report.ts'

/** The result of one request. Times are milliseconds since the epoch. */
export type Outcome = {
  id: bigint
  sentAt: number
  /** When the answer was complete, or when the connection failed. */
  endedAt: number
  /** The HTTP status, or the error code of the connection. */
  status: number | string
  /** How the answer breaks the contract. */
  flaw: string | undefined
}

/** The ids that were sent and the ids that were answered with 200. Several loads can share one. */
export type Journal = { sent: Set<bigint>; acknowledged: Set<bigint> }

export const newJournal = (): Journal => ({ sent: new Set(), acknowledged: new Set() })

export const isAcknowledged = ({ status }: Outcome): boolean => status === 200

export const isUnavailable = ({ status }: Outcome): boolean => status === 503

export const isDisconnected = ({ status }: Outcome): boolean => typeof status === 'string'

/** Whether no fault excuses an answer: its status is neither 200 nor 503, or it breaks the contract. */
export const isWrong = (outcome: Outcome): boolean =>
  outcome.flaw !== undefined || !(isAcknowledged(outcome) || isUnavailable(outcome) || isDisconnected(outcome))

export const count = (outcomes: Outcome[], isCounted: (outcome: Outcome) => boolean): number =>
  outcomes.filter(isCounted).length

/** Returns the longest time that a client waited for an answer, in milliseconds. */
export const longestWait = (outcomes: Outcome[]): number =>
  outcomes.reduce((longest, { sentAt, endedAt }) => Math.max(longest, endedAt - sentAt), 0)

/** Reports how many answers had each status and each flaw; none may be wrong. */
export function reportOutcomes(report: Report, outcomes: Outcome[]): void {
  const counts: Record<string, number> = {}
  for (const { status, flaw } of outcomes) {
    for (const key of flaw === undefined ? [status] : [status, flaw]) counts[key] = (counts[key] ?? 0) + 1
  }
  for (const [status, times] of Object.entries(counts)) report.figure(`answers: ${status}`, times)
  report.zero('wrong answers', count(outcomes, isWrong))
}
