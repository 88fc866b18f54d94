import type { ContractTestResult, OperationResult, ShownRequest, ShownResponse, TestFailure } from '../results.ts'

/** The minimum length of a secret. A shorter one would replace parts of words, and protect nothing. */
const minLength = 4

/**
 * Returns the result of a run without secrets, such as a token that the server repeats in a body.
 *
 * @param secrets The texts that stand for secrets, by secret.
 */
export function maskedResult(result: ContractTestResult, secrets: ReadonlyMap<string, string>): ContractTestResult {
  const forms = Array.from(secrets).flatMap(([secret, name]) => formsOf(secret).map((form) => [form, name] as const))
  // A secret may be the beginning of another one.
  forms.sort(([one], [other]) => other.length - one.length)
  if (forms.length === 0) return result
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

  function textOf(text: string): string {
    let masked = text
    for (const [form, name] of forms) masked = masked.replaceAll(form, () => name)
    return masked
  }

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
    const { expected, got, kind, request, response, earlier } = failure
    return {
      ...failure,
      expected: textOf(expected),
      got: textOf(got),
      kind: textOf(kind),
      request: requestOf(request),
      response: response && responseOf(response),
      earlier: earlier.map(requestOf),
    }
  }
}

/** Returns a secret as it may occur in a request or a response: plain, in a URL, in JSON, in base64, or by its bytes. */
function formsOf(secret: string): string[] {
  if (secret.length < minLength) return []
  const bytes = Buffer.from(secret)
  const texts = [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]
  const encoded = [bytes.toString('base64'), bytes.toString('base64url')]
  const octets = texts.map((text) => Buffer.from(text).toString('latin1'))
  return [...new Set([...texts, ...encoded, ...octets])]
}
