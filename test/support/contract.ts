import {
  type Assertions,
  namedResponseOf,
  type ReceivedResponse,
  responseOf,
  responseValidator,
} from 'fastify-contract-test-support/response-validator'
import { contract } from '../../generated/contract.mjs'
import { errorNumbers } from '../../generated/error-numbers.ts'
import type { Document } from '../../packages/fastify-contract-cli/src/document/openapi-document.ts'

export { contract }

export const document: Document = JSON.parse(contract.documentText)

/** The error numbers of the contract. */
export const contractErrorNumbers: number[] = Object.values(errorNumbers)

const { operationAt, assertResponse, assertBody, ...listed } = responseValidator(document)

export const { methodsAt } = listed

/** Fails the test unless the contract lists the response: status, media type, headers and body. */
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
  t.ok(contractErrorNumbers.includes(error), `the contract lists error number ${error}`)
  t.equal(Math.trunc(error / 100), status)
  t.same(Object.keys(value as object), ['error', 'message'])
}
