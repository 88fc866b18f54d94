import type { RequestValues, TestRequest } from '../exchange.ts'
import { isJsonScalar } from './identifying-value.ts'

/** Writes a request from its values, such as `requestWith` of a RequestMaker. */
export type WriteRequest = (operation: TestRequest['operation'], values: RequestValues) => TestRequest | undefined

/**
 * Returns a valid request of an operation with some other parameters; undefined if one of them cannot be sent.
 *
 * @param base A valid request of the operation.
 * @param parameters The values by location and name, such as `path id`.
 */
export function withParameters(
  write: WriteRequest,
  base: TestRequest,
  parameters: ReadonlyMap<string, unknown>,
  body: unknown = undefined,
): TestRequest | undefined {
  const { values, operation } = base
  const known = new Set(operation.parameters.map(({ in: location, name }) => `${location} ${name}`))
  const merged = new Map(values.parameters)
  for (const [key, value] of parameters) if (known.has(key)) merged.set(key, value)
  const sent = body === undefined || values.body === undefined ? values.body : { ...values.body, value: body }
  return write(operation, { parameters: merged, body: sent })
}

/** Returns a request with the path of another one; its other parts, and its violation, stay as they are. */
export function atPathOf(other: TestRequest, request: TestRequest): TestRequest {
  const [path = ''] = other.target.split('?', 1)
  return { ...request, target: path + request.target.replace(/^[^?]*/s, ''), source: 'sequence' }
}

/** Returns the parameters of the path of a request. */
export function pathParameters({ values }: TestRequest): Map<string, unknown> {
  const found = new Map<string, unknown>()
  for (const [key, value] of values.parameters)
    if (key.startsWith('path ') && isJsonScalar(value)) found.set(key, value)
  return found
}
