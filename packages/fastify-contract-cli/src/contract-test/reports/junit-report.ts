import { htmlText } from '../../text/foreign-text.ts'
import { escaped, visible } from '../../text/source-text.ts'
import type { ContractTestResult, OperationResult, TestFailure } from '../results.ts'
import { bounded, type ReportContext } from './report-context.ts'
import { failureLines } from './terminal-report.ts'

/**
 * Returns the report of a run as JUnit XML: a test suite for each operation, a test case for each check. It has what the
 * schema of Jenkins knows, junit-10.xsd of its xUnit plugin, which GitLab and others read, too.
 */
export function junitReport(
  { title, target, operations, checks, seconds }: ContractTestResult,
  context: ReportContext,
): string {
  const suites = operations.map((operation) => {
    const cases = checks.map(({ check }) => caseOf(check, operation, context))
    const attributes = {
      name: operation.operationId,
      package: `${operation.method} ${operation.path}`,
      ...countsOf(cases),
    }
    return { cases, text: element('testsuite', attributes, cases.map(({ text }) => text).join('')) }
  })
  const counts = countsOf(suites.flatMap(({ cases }) => cases))
  const { skipped: _, ...totals } = counts
  const attributes = { name: `${title} at ${target}`, ...totals, time: seconds.toFixed(3) }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', attributes, suites.map(({ text }) => text).join(''))}`
}

type Case = { outcome: 'passed' | 'failed' | 'skipped'; text: string }

const countsOf = (cases: Case[]) => ({
  tests: String(cases.length),
  failures: String(cases.filter(({ outcome }) => outcome === 'failed').length),
  errors: '0',
  skipped: String(cases.filter(({ outcome }) => outcome === 'skipped').length),
})

function caseOf(check: string, operation: OperationResult, context: ReportContext): Case {
  const { operationId, failures, off, untested } = operation
  const own = failures.filter((failure) => failure.check === check)
  const reason = off.find((one) => one.check === check)?.reason ?? untested
  const outcome = own.length > 0 ? 'failed' : reason === undefined ? 'passed' : 'skipped'
  const inner =
    outcome === 'skipped'
      ? element('skipped', { message: bounded(String(reason)) })
      : own.map((failure) => failureElement(failure, context)).join('')
  return { outcome, text: element('testcase', { name: check, classname: operationId }, inner) }
}

function failureElement(failure: TestFailure, context: ReportContext): string {
  const { check, expected, got } = failure
  const attributes = { type: check, message: `expected ${bounded(expected)}; got ${bounded(got)}` }
  return element('failure', attributes, xmlText(failureLines(failure, context).join('\n')))
}

/** Returns an element of XML. Its content is XML. */
function element(name: string, attributes: Record<string, string>, content = ''): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${xmlText(visible(value))}"`)
  const isNested = content.startsWith('<')
  return content === ''
    ? `<${name}${written.join('')}/>\n`
    : `<${name}${written.join('')}>${isNested ? '\n' : ''}${content}</${name}>\n`
}

/** Returns a text for XML 1.0, in which no reference can stand for the other characters (section 2.2). */
const xmlText = (text: string): string =>
  htmlText(text.toWellFormed().replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, escaped))
