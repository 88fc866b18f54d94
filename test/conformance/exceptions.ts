import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { Report } from '../scenarios/scenario-report.ts'

/** Cases of a suite that end otherwise than the suite has them, each with the reason. */
export type Exceptions = { reason: string; cases: string[] }[]

const path = 'test/conformance/exceptions.yaml'

/** Returns the exceptions of a suite, by how their cases end. */
export const exceptionsOf = (suite: string): Record<string, Exceptions> => parse(readFileSync(path, 'utf8'))[suite]

/**
 * Reports how many cases end in a way, and fails for each case that is not listed and for each listed one that does not
 * end so any more. `details` say more of a case, by its name.
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
  report.zero(`${way}, listed wrongly`, outdated.length)
  for (const one of unlisted) {
    process.stderr.write(`${way}: ${one}: add it to ${path}, or correct the service\n${details[one] ?? ''}`)
  }
  for (const one of outdated) process.stderr.write(`${way}: ${one}: is not so any more; remove it from ${path}\n`)
}
