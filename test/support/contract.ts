import { errorNumbers } from '../../generated/error-numbers.ts'
import type { Document } from '../../scripts/generate/openapi-document.ts'
import { loadContract } from '../../src/openapi/load-contract.ts'
import {
  type Assertions,
  namedResponseOf,
  type ReceivedResponse,
  responseOf,
  responseValidator,
} from './response-validator.ts'

/** What the service loads of generated/. */
export const contract = await loadContract(new URL('../../generated/', import.meta.url))

export const document: Document = JSON.parse(contract.documentText)

/** The numbers of the contract's table of errors. */
export const contractErrorNumbers: number[] = Object.values(errorNumbers)

const { operationAt, assertResponse, assertBody, ...listed } = responseValidator(document)

export const { methodsAt } = listed

/** Fails the test unless an answer is one that the contract lists: status, media type, headers and body. */
export function assertContractResponse(t: Assertions, answer: ReceivedResponse): void {
  const { method, path, status, headers } = answer
  const operation = operationAt(method, path)
  const isNamed = operation !== undefined && namedResponseOf(operation.responses, status) !== undefined
  if (!isNamed) t.ok(status >= 400, `${status} is an error`)
  if (status === 401)
    t.match(headers['www-authenticate'], /(^|, )Bearer realm="plant-store"(, error="invalid_token")?$/)
  if (status === 405) t.type(headers.allow, 'string')
  if (status === 415) t.ok(headers.accept ?? headers['accept-encoding'])
  if (status === 503 || status === 429) t.match(headers['retry-after'], /^\d+$/)
  t.match(headers['x-request-id'], /^[\w.-]{1,128}$/)
  const response = operation && responseOf(operation, status)
  const value =
    response === undefined
      ? assertBody(t, '#/components/schemas/Error', answer, 'application/json')
      : assertResponse(t, response, answer)
  if (status < 400 || method === 'HEAD') return
  const { error } = value as { error: number }
  t.ok(contractErrorNumbers.includes(error), `${error} is in the table of errors`)
  t.equal(Math.trunc(error / 100), status)
  t.same(Object.keys(value as object), ['error', 'message'])
}
