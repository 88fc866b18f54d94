import type { ContractTestResult, ShownRequest, ShownResponse, TestFailure } from '../results.ts'
import { curlCommand } from './curl-command.ts'
import { bounded, type ReportContext } from './report-context.ts'

/** The version of the JSON report. It changes when a member is removed or has another meaning. */
const version = 1

/** The maximum number of bytes of a body in a report. */
const maxBody = 4_096

/** Returns the report of a run as JSON, which docs/contract-test.md describes. */
export function jsonReport(result: ContractTestResult, context: ReportContext): string {
  const { operations, failures, checks, longestGap = null, title, version: documentVersion, ...others } = result
  const report = {
    version,
    title,
    documentVersion,
    ...others,
    longestGap,
    operations: operations.map(({ operationId, method, path, requests, failures, off, untested = null }) => {
      const place = context.placeOf({ operationId, method, path }) ?? null
      return { operationId, method, path, place, requests, failures: failures.length, off, untested }
    }),
    checks,
    failures: failures.map((failure) => failureOf(failure, context)),
  }
  return `${JSON.stringify(report, null, 2)}\n`
}

function failureOf(failure: TestFailure, context: ReportContext): object {
  const { check, operation, expected, got, violation, source, repeats, seed, after, request, response, earlier } =
    failure
  return {
    check,
    ...operation,
    place: context.placeOf(operation) ?? null,
    expected: bounded(expected),
    got: bounded(got),
    violation: violation === undefined ? null : bounded(violation),
    source,
    repeats,
    seed,
    after,
    repeat: context.repeat(operation),
    request: requestOf(request, context),
    response: response === undefined ? null : responseOf(response),
    earlier: earlier.map((one) => requestOf(one, context)),
  }
}

const requestOf = ({ method, target, headers, body }: ShownRequest, { server }: ReportContext): object => ({
  method,
  target,
  headers: headers.map(([name, value]) => ({ name, value })),
  body: body === undefined ? null : bodyOf(body),
  curl: curlCommand({ method, target, headers, body }, server) ?? null,
})

const responseOf = ({ status, headers, body, milliseconds }: ShownResponse): object => ({
  status,
  headers: Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => ({ name, value: one }))),
  body: bodyOf(body),
  milliseconds,
})

/** Returns the first bytes of a body in base64, as text if they are UTF-8, and how many it has. */
function bodyOf(body: Uint8Array): object {
  const first = body.subarray(0, maxBody)
  const rest = { bytes: body.length, base64: Buffer.from(first).toString('base64') }
  try {
    return { ...rest, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(first) }
  } catch {
    return { ...rest, text: null }
  }
}
