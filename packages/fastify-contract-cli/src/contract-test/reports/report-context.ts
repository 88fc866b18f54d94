import type { OperationName } from '../results.ts'

/** What a report tells beside the result of a run. */
export type ReportContext = {
  /** The origin to which its curl commands send requests, such as http://localhost:3000. */
  server: string
  /** Returns the place of an operation in the document, FILE:LINE:COLUMN; undefined if it is unknown. */
  placeOf(operation: OperationName): string | undefined
  /** Returns the command that tests an operation again with the same seed. */
  repeat(operation: OperationName): string
}

/** The maximum number of characters of a text of a server or of the document in a report. */
const maxReportText = 1_000

/** Returns the beginning of a text, without surrogates that UTF-8 cannot encode. */
export const bounded = (text: string): string =>
  (text.length > maxReportText ? `${text.slice(0, maxReportText)}…` : text).toWellFormed()
