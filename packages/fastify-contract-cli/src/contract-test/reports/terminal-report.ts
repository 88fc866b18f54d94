import { lineText } from '../../text/source-text.ts'
import {
  type ContractTestResult,
  type OperationResult,
  type RunEnd,
  type TestFailure,
  testedNothing,
} from '../results.ts'
import { curlCommand } from './curl-command.ts'
import { bounded, type ReportContext } from './report-context.ts'

/** The maximum number of earlier requests, of reasons and of operations in a report. */
const maxListed = 20

/** Returns the report of a run as lines of a terminal: each failure with a request that shows it, then a summary. */
export function terminalReport(result: ContractTestResult, context: ReportContext): string {
  const failures = result.failures.map((failure) => `${failureLines(failure, context).join('\n')}\n\n`)
  return `${failures.join('')}${summaryLines(result).join('\n')}\n`
}

/** Returns the lines of a failure. The last ones are commands to paste. */
export function failureLines(failure: TestFailure, context: ReportContext): string[] {
  const { check, operation, violation, source, expected, got, repeats, seed, request, response, earlier } = failure
  const { operationId, method, path } = operation
  const kind = violation === undefined ? `${source} request` : `invalid request: ${shown(violation)}`
  const time = response === undefined ? '' : ` in ${Math.round(response.milliseconds)} ms`
  const shownEarlier = earlier.slice(-maxListed)
  return [
    shown(`${operationId}: ${check} (${method} ${path}, ${kind})`),
    `  expected  ${shown(expected)}`,
    `  got       ${shown(got)}${time}`,
    ...(repeats === 0 ? [] : [`  again     ${counted(repeats, 'later request')} failed in the same way`]),
    `  repeat    ${context.repeat(operation)}`,
    `  seed      ${seed}`,
    ...(earlier.length > 0 ? [`after ${counted(earlier.length, 'earlier request')}:`] : []),
    ...shownEarlier.map((one) => commandOf(one, context)),
    ...(earlier.length > 0 ? ['the request that failed:'] : []),
    commandOf(request, context),
  ]
}

const commandOf = (request: TestFailure['request'], { server }: ReportContext): string =>
  curlCommand(request, server) ??
  `(${shown(request.method)} with a body of ${request.body?.length} bytes, which is too long for a command; repeat the test)`

/** Returns a text of a server or of the document as a part of a line. */
const shown = (text: string): string => lineText(bounded(text))

/** Why a run ended early. One whose requests vary at random ends at the maximum number of requests. */
const ends: Record<Exclude<RunEnd, 'complete' | 'requests'>, string> = {
  seconds: 'ended at the maximum number of seconds',
  failures: 'ended at the maximum number of failures',
  aborted: 'interrupted',
  unreachable: 'ended since the server could no longer be reached',
}

function summaryLines(result: ContractTestResult): string[] {
  const { title, version, target, operations, requests, seconds, failures, seed, end } = result
  const isWhole = end === 'complete' || end === 'requests'
  const tested = operations.filter(({ untested }) => untested === undefined).length
  const count = `${tested} of ${operations.length} operations, ${requests} requests, ${seconds.toFixed(1)} s`
  return [
    ...offLines(operations),
    ...untestedLines(operations),
    shown(`${title} ${version} at ${target}: ${count}, seed ${seed}${isWhole ? '' : `; ${ends[end]}`}`),
    testedNothing(result) ? 'nothing was tested' : countOf(failures.length),
  ]
}

/** Returns a number of failures as words. */
export const countOf = (failures: number): string => (failures === 0 ? 'no failures' : counted(failures, 'failure'))

const counted = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`

/** Returns a line for each check and reason, with the operations for which it is turned off. */
function offLines(operations: OperationResult[]): string[] {
  const names = new Map<string, string[]>()
  for (const { operationId, off } of operations)
    for (const { check, reason } of off) {
      const key = `${check} is off: ${reason}`
      names.set(key, [...(names.get(key) ?? []), operationId])
    }
  const lines = Array.from(names, ([text, ids]) =>
    shown(ids.length === operations.length ? `${text} (all operations)` : `${text} (${listed(ids)})`),
  )
  return firstOf(lines, 'more checks that are off')
}

/** Returns a line for each operation that is not tested, with the reason. */
export function untestedLines(operations: OperationResult[]): string[] {
  const lines = operations
    .filter(({ untested }) => untested !== undefined)
    .map(({ operationId, untested }) => shown(`${operationId} is not tested: ${untested}`))
  return firstOf(lines, 'more operations that are not tested')
}

const firstOf = (lines: string[], more: string): string[] =>
  lines.length > maxListed ? [...lines.slice(0, maxListed), `${lines.length - maxListed} ${more}`] : lines

const listed = (names: string[]): string =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
