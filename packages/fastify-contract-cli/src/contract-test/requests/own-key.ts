import { randomUUID } from 'node:crypto'
import { hasKeyHeader } from '../../document/idempotency-keys.ts'
import type { TestRequest } from '../exchange.ts'

const keyHeader = 'idempotency-key'

/**
 * Returns a request with a key of its own, if its operation has idempotency keys: a key that another request has had
 * would get the response of that one, or 422. A header that must be invalid stays, and so does one whose schema may
 * reject a UUID.
 */
export function withOwnKey(request: TestRequest): TestRequest {
  const key = request.key ?? ownKey(request)
  return key === undefined ? request : { ...request, headers: { ...request.headers, [keyHeader]: key } }
}

/** Returns a new key for a request; undefined if it needs none, or may not have one. */
export function ownKey({ operation, headers, violation }: TestRequest): string | undefined {
  if (!hasKeyHeader(operation) || headers[keyHeader] === undefined || violation?.part === 'header') return undefined
  const parameter = operation.parameters.find((each) => each.name.toLowerCase() === keyHeader)
  const { enum: values, const: value, pattern, maxLength = 36, minLength = 36 } = (parameter?.schema ?? {}) as KeySchema
  const isFree = values === undefined && value === undefined && pattern === undefined
  return isFree && maxLength >= 36 && minLength <= 36 ? randomUUID() : undefined
}

type KeySchema = { enum?: unknown; const?: unknown; pattern?: string; maxLength?: number; minLength?: number }
