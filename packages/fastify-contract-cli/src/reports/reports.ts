import { grades, type Row } from './grades.ts'

type Table = typeof grades

/** A kind of a grade. */
type KindsGraded<Grade extends Row['grade']> = {
  [Kind in keyof Table]: Table[Kind] extends Row<Grade> ? Kind : never
}[keyof Table]

/** The kinds that are warnings: a pass that mends a document cannot refuse it. */
export type Advised = KindsGraded<'advice'>

/** The kinds that are problems: a later stage needs what they violate. */
export type Refused = KindsGraded<'refused'>

/** The kinds that are reported. */
export type Deviation = Advised | Refused

/**
 * How a rule reports what it finds at a location of the document. The text says what is wrong, and the fix. The grade of
 * the kind decides whether the service cannot serve the location as described, or serves it in a way that its author may
 * not expect.
 */
export type Report = (kind: Deviation, pointer: string, text: string) => void

/** How a pass reports what it assumes at a location of the document. */
export type Advise = (kind: Advised, pointer: string, text: string) => void

/** Returns the line of a problem, for a rule whose kinds are all refused. */
export const refusal = (_kind: Refused, pointer: string, text: string): string => lineOf(pointer, text)

/** Returns the line of a warning, for a pass whose kinds are all served. */
export const warning = (_kind: Advised, pointer: string, text: string): string => lineOf(pointer, text)

const lineOf = (pointer: string, text: string): string => `${pointer}: ${text}`

/** The grade of each kind that is reported. */
export type Grades = Record<Deviation, Pick<Row, 'grade'>>

/** Returns a function that reports, and the lines of its reports by the grades of their kinds, each line once. */
export function gradedLines(table: Grades = grades): { report: Report; lines: Record<Row['grade'], Set<string>> } {
  const lines = { served: new Set<string>(), advice: new Set<string>(), refused: new Set<string>() }
  return { report: (kind, pointer, text) => lines[table[kind].grade].add(lineOf(pointer, text)), lines }
}
