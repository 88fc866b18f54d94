import { workflowProperty, workflowText } from '../../text/foreign-text.ts'
import { lineText } from '../../text/source-text.ts'
import type { ContractTestResult } from '../results.ts'
import { bounded, type ReportContext } from './report-context.ts'

/** Returns a GitHub annotation for each failure, at the operation in the document if its place is known. */
export function githubReport({ failures }: ContractTestResult, { placeOf, repeat }: ReportContext): string {
  return failures
    .map(function annotation({ check, operation, expected, got }) {
      const [, file = '', line = '', column = ''] = /^(.*):(\d+):(\d+)$/s.exec(placeOf(operation) ?? '') ?? []
      const place = file === '' ? '' : `file=${workflowProperty(file)},line=${line},col=${column},`
      const title = workflowProperty(lineText(bounded(`${operation.operationId}: ${check}`)))
      const texts = [`expected ${bounded(expected)}`, `got ${bounded(got)}`, repeat(operation)]
      return `::error ${place}title=${title}::${workflowText(texts.map(lineText).join('\n'))}\n`
    })
    .join('')
}

/**
 * Returns a text as GitHub prints it without obeying it: a line of a server or of a document could be a command.
 *
 * @param token A random text, so that the text of a server cannot end the block.
 */
export const withoutCommands = (text: string, token: string): string =>
  `::stop-commands::${token}\n${text}::${token}::\n`
