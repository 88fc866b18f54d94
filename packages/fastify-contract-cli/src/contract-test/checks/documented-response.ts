import { essenceOf, isRange, rangeOf, responseKey } from 'fastify-contract/contract'
import { type Endpoint, type Located, type Response, routedPath } from '../../document/openapi-document.ts'
import type { Exchange, TestResponse } from '../exchange.ts'

/** Returns the response that an operation describes for a status; undefined if there is none. */
export function describedResponse({ responses }: Endpoint, status: number): Located<Response> | undefined {
  const key = responseKey(responses, status)
  return key === undefined ? undefined : responses[key]
}

/** Returns whether a response has no content whatever the document says (RFC 9110 section 6.4.1). */
export const isWithoutContent = ({
  request: { method },
  response: { status },
}: {
  request: Pick<Exchange['request'], 'method'>
  response: Pick<TestResponse, 'status'>
}): boolean => method === 'HEAD' || status === 204 || status === 304 || (method === 'CONNECT' && status < 300)

/** Returns whether an exchange is one that the document describes: it has no other method than the operation. */
export const isDescribed = ({ request: { method, operation } }: Exchange): boolean =>
  method === operation.method || (method === 'HEAD' && operation.method === 'GET')

/** Returns the value of a header of a response; undefined if it has none. */
export function headerOf({ headers }: TestResponse, name: string): string | undefined {
  const value = headers[name.toLowerCase()]
  return Array.isArray(value) ? value.join(', ') : value
}

/** Returns the media type of a document that describes a Content-Type: the same one, or the narrowest range. */
export function describedType(types: string[], contentType: string): string | undefined {
  const exact = types.find((type) => type.toLowerCase() === contentType.toLowerCase())
  if (exact !== undefined) return exact
  const essence = essenceOf(contentType)
  return types.find((type) => !isRange(type) && essenceOf(type) === essence) ?? rangeOf(types, essence)
}

/** Returns the path of an operation as requests are routed, without the names of its parameters. */
export const shapeOf = (path: string): string => routedPath(path).replace(/\{[^}]*\}/g, '{}')

export const isSuccess = ({ status }: TestResponse): boolean => status >= 200 && status < 300
