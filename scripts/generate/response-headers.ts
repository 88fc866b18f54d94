import type { ReplyHeader } from '../../src/openapi/routes.ts'
import { type ServiceHeader, serviceHeaders } from '../../src/openapi/service-headers.ts'
import { join } from './json-pointer.ts'
import { type Document, type Header, type Located, locate, type Response } from './openapi-document.ts'
import type { Node } from './walk-document.ts'

/** Returns the headers that a response declares, by name, each with its place. */
export const headersOf = (document: Document, response: Located<Response>): [name: string, header: Located<Header>][] =>
  Object.keys(response.headers ?? {}).map((name) => [
    name,
    locate<Header>(document, join(response.pointer, 'headers', name)),
  ])

/** Returns whether a handler gives a header: the service sends the others itself. */
export const isGiven = (name: string): boolean => !serviceHeaders.includes(name.toLowerCase() as ServiceHeader)

/** Returns the headers of a response that its handler gives, as the service writes them. */
export const replyHeaders = (document: Document, response: Located<Response>): ReplyHeader[] =>
  headersOf(document, response)
    .filter(([name]) => isGiven(name))
    .map(([name, { required = false, explode = false }]) => ({ name, isRequired: required, explode }))

/** Returns one line for each header of a response that cannot be written as it says. */
export function headerProblems(document: Document, response: Located<Response>): string[] {
  const given = headersOf(document, response).filter(([name]) => isGiven(name))
  return given
    .filter(([, header]) => 'content' in header)
    .map(([name, { pointer }]) => `${pointer}: header ${name}: is described by a schema, not by content`)
}

/**
 * Returns a response with the headers that may be missing where they are referred to: openapi-typescript takes a $ref for
 * a required header.
 */
export function withOptionalHeaders(document: Document, response: Node): Node {
  if (response.headers === undefined) return response
  const headers = Object.entries(response.headers as Record<string, { $ref?: string }>).map(([name, header]) => {
    const found = header.$ref === undefined ? undefined : locate<Header>(document, header.$ref)
    const { pointer: _, ...optional } = found ?? { pointer: '' }
    return [name, found === undefined || found.required === true ? header : optional]
  })
  return { ...response, headers: Object.fromEntries(headers) }
}
