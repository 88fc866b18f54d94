import type { Installation } from '../implementations.ts'
import type { Options, Round } from '../shapes.ts'

/** What a server has 1, 10 or more of, and the rows that show what each costs. */
export type Series = {
  /** One of them, such as "operation". */
  one: string
  counts: number[]
  /** Returns the name of the row of a count. */
  rowOf: (count: number) => string
  /** The numbers of operations of the documents that it serves. */
  documents?: number[]
  /** Measures all counts in a round, each implementation in a new process. */
  measure: (installation: Installation, options: Options, round: Round) => Promise<void>
}

/** Returns the name of a row, such as "1 operation" and "10,000 connections". */
export const rowNamed =
  (one: string) =>
  (count: number): string =>
    `${count.toLocaleString('en-US')} ${one}${count === 1 ? '' : 's'}`
