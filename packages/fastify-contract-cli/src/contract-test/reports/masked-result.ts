import type { ContractTestResult, OperationResult, ShownRequest, ShownResponse, TestFailure } from '../results.ts'
import { isMasked, secretMask } from './secret-mask.ts'

/**
 * Returns the result of a run without secrets, such as a token that the server repeats in a body.
 *
 * @param secrets The texts that stand for secrets, by secret.
 */
export function maskedResult(result: ContractTestResult, secrets: ReadonlyMap<string, string>): ContractTestResult {
  if (!Array.from(secrets.keys()).some(isMasked)) return result
  const textOf = secretMask(secrets)
  const masked = new Map(result.failures.map((failure) => [failure, maskedFailure(failure)]))
  const maskedOf = (failures: TestFailure[]) => failures.map((failure) => masked.get(failure) ?? maskedFailure(failure))
  const operations = result.operations.map(
    (operation): OperationResult => ({
      ...operation,
      failures: maskedOf(operation.failures),
      untested: operation.untested === undefined ? undefined : textOf(operation.untested),
    }),
  )
  return { ...result, operations, failures: maskedOf(result.failures) }

  function bytesOf(bytes: Uint8Array): Uint8Array {
    const text = Buffer.from(bytes).toString('latin1')
    const masked = Buffer.from(textOf(text), 'latin1')
    return masked.equals(bytes) ? bytes : masked
  }

  function requestOf({ method, target, headers, body }: ShownRequest): ShownRequest {
    const shown = headers.map(([name, value]): [string, string] => [name, textOf(value)])
    return { method, target: textOf(target), headers: shown, body: body && bytesOf(body) }
  }

  function responseOf({ headers, body, ...others }: ShownResponse): ShownResponse {
    const shown = Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? textOf(value) : value.map(textOf),
    ])
    return { ...others, headers: Object.fromEntries(shown), body: bytesOf(body) }
  }

  function maskedFailure(failure: TestFailure): TestFailure {
    const { expected, got, kind, violation, request, response, earlier } = failure
    return {
      ...failure,
      expected: textOf(expected),
      got: textOf(got),
      kind: textOf(kind),
      violation: violation && textOf(violation),
      request: requestOf(request),
      response: response && responseOf(response),
      earlier: earlier.map(requestOf),
    }
  }
}
