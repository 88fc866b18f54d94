import { type History, linearizabilityViolation } from './plant-history.ts'

/** Counts the ids with an unexplained history, in total and by reason. */
export function countViolations(histories: Map<bigint, History>): { all: number; counts: Map<string, number> } {
  const counts = new Map<string, number>()
  for (const history of histories.values()) {
    const why = linearizabilityViolation(history)
    if (why !== undefined) counts.set(why, (counts.get(why) ?? 0) + 1)
  }
  return { all: [...counts.values()].reduce((sum, ids) => sum + ids, 0), counts }
}

/** Returns whether writes with different content were sent. */
export const isContended = (history: History): boolean =>
  new Set(history.flatMap(({ outcome, content }) => (outcome === 'read' ? [] : [content]))).size > 1

/** Returns whether two writes with different content overlapped in time. */
export const isRaced = (history: History): boolean =>
  history.some((one) =>
    history.some((other) => other.content !== one.content && other.start < one.end && one.start < other.end),
  )

/** Returns the unexplained histories as text: one operation a line, ordered by start. */
export function unexplainedText(histories: Map<bigint, History>): string {
  const texts = [...histories].map(([id, history]) => {
    const why = linearizabilityViolation(history)
    if (why === undefined) return ''
    const lines = history
      .toSorted((one, other) => one.start - other.start)
      .map(({ start, end, outcome, content }) => `  ${start.toFixed(3)} to ${end.toFixed(3)} ${outcome} ${content}\n`)
    return `${id}: ${why}\n${lines.join('')}`
  })
  return texts.join('')
}
