import type { CreateOutcome } from '../store/plant-store.ts'

/** Counts the outcomes of the lines of an import. */
export type ImportTally = {
  add(id: bigint, outcome: CreateOutcome): void
  addWrong(line: number, reason: string): void
  /** Returns the number of plants that have an outcome. */
  plants(): number
  /** Returns whether the store now has the plant of every line. */
  isComplete(): boolean
  /** Returns a summary to print: the counts, the first ids in conflict and the first wrong lines. */
  summary(): string
}

/** The most ids in conflict, and the most wrong lines, in a summary. */
const listed = 10

/** Returns a tally of an import that has not begun. */
export function newImportTally(): ImportTally {
  const counts = { created: 0, identical: 0, conflict: 0 }
  const conflicts: bigint[] = []
  const reasons: string[] = []
  let wrong = 0
  const more = (count: number) => (count > listed ? `, and ${count - listed} more` : '')
  return {
    add(id, outcome) {
      counts[outcome]++
      if (outcome === 'conflict' && conflicts.length < listed) conflicts.push(id)
    },
    addWrong(line, reason) {
      wrong++
      if (reasons.length < listed) reasons.push(`line ${line}: ${reason}\n`)
    },
    plants: () => counts.created + counts.identical + counts.conflict,
    isComplete: () => counts.conflict + wrong === 0,
    summary() {
      const { created, identical, conflict } = counts
      const ids = conflict === 0 ? '' : `ids in conflict: ${conflicts.join(', ')}${more(conflict)}\n`
      const rest = wrong > listed ? `and ${wrong - listed} more lines are wrong\n` : ''
      const numbers = `new: ${created}, identical: ${identical}, in conflict: ${conflict}, wrong lines: ${wrong}\n`
      return numbers + ids + reasons.join('') + rest
    },
  }
}
