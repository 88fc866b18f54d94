import { readFileSync } from 'node:fs'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import { parse } from 'yaml'
import { ownPath } from '../support/own-path.ts'

/** Cases whose result deviates from their suite, grouped by reason. */
export type Exceptions = { reason: string; cases: string[] }[]

const path = ownPath('test/conformance/exceptions.yaml')

/** Returns the exceptions of a suite, by kind of deviation. */
export const exceptionsOf = (suite: string): Record<string, Exceptions> => parse(readFileSync(path, 'utf8'))[suite]

/**
 * Reports the number of cases with one kind of deviation. Fails for each case that is not listed, and for each listed
 * case without the deviation. `details` has more text by case name.
 */
export function reportExceptions(
  report: Report,
  way: string,
  found: string[],
  exceptions: Exceptions = [],
  details: Record<string, string> = {},
): void {
  const listed = exceptions.flatMap(({ cases }) => cases)
  const unlisted = found.filter((one) => !listed.includes(one))
  const outdated = listed.filter((one) => !found.includes(one))
  report.figure(way, found.length)
  report.zero(`${way}, not listed`, unlisted.length)
  report.zero(`${way}, listed but not found`, outdated.length)
  for (const one of unlisted)
    process.stderr.write(`${way}: ${one}: list it in ${path} or fix the service\n${details[one] ?? ''}`)
  for (const one of outdated) process.stderr.write(`${way}: ${one}: no longer occurs; remove it from ${path}\n`)
}
